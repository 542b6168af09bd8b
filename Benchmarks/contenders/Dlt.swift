import Basics
import Postgres

/// dlt, a Python library for loading data, which creates its own tables.
struct Dlt: ScriptedPeer {
  let name = "dlt"
  let summary = "dlt, merging by primary key"
  let layout = Layout.own("dlt")
  let pace = Pace.slow
  let contents = Contents.statement(
    table: "quakes.quake", magnitude: "mag", time: "time", updated: "updated")
  let script = "dlt_load.py"
  let packages = ["dlt", "psycopg2-binary"]
  let hint = "pip install 'dlt[postgres]', and name that Python in PYTHON"
}
