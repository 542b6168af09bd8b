import Basics
import Postgres

/// A shell pipeline: jq writes CSV, psql copies it into a temporary table and merges that.
struct JqCopy: Contender {
  let name = "jq"
  let summary = "jq, psql and a temporary table"
  let layout = Layout.plain
  let pace = Pace.slow
  let contents = Contents.statement(table: "public.plain")

  func availability(_ bench: Bench) -> Availability {
    guard let path = SearchPath.find("jq"),
      let version = bench.firstLine(of: path, ["--version"])
    else { return .absent(hint: "install jq (on Debian: jq)") }
    return .present(version: version)
  }

  func command(
    loading file: DataFile, into database: String, _ bench: Bench
  ) throws -> ChildProcess {
    bench.program(
      "/bin/sh", [Scripts.folder + "/jq_copy.sh", file.path], database: database,
      environment: ["PSQL": try bench.server.psqlPath])
  }
}
