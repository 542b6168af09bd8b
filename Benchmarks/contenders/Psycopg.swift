import Postgres

/// A Python script, as an expert in PostgreSQL would write it.
struct Psycopg: ScriptedPeer {
  let name = "psycopg"
  let summary = "a Python script with COPY, a temporary table and insert ... on conflict"
  let layout = Layout.plain
  let contents = Contents.statement(table: "public.plain")
  let script = "psycopg_copy.py"
  let packages = ["psycopg", "psycopg-binary"]
  let hint = "pip install 'psycopg[binary]', and name that Python in PYTHON"
}
