import Basics
import Glibc
import Postgres

/// The limit: psql copies a ready-made binary file into an identical table without triggers.
struct Limit: Contender {
  static let name = "limit"
  var name: String { Self.name }
  let summary = "psql copies ready-made rows into an identical table without triggers"
  let layout = Layout.plain
  let alwaysStartsEmpty = true
  let contents = Contents.statement(table: "public.plain")

  func availability(_ bench: Bench) -> Availability {
    guard let psql = try? bench.server.psqlPath,
      let version = bench.firstLine(of: psql, ["--version"])
    else { return .absent(hint: "install PostgreSQL's client (on Debian: postgresql-client)") }
    return .present(version: version)
  }

  func command(
    loading file: DataFile, into database: String, _ bench: Bench
  ) throws -> ChildProcess {
    let rows = bench.data.path(file.name + ".rows")
    if access(rows, R_OK) != 0 { try write(rows, of: file, bench) }
    return try psql("\\copy public.plain from '\(rows)' (format binary)", database, bench)
  }

  /// Writes the rows as an import stores them.
  private func write(_ rows: String, of file: DataFile, _ bench: Bench) throws {
    guard let quake = bench.databases.importer else {
      throw BenchFailure("quake-ingest is needed to make the rows of the limit")
    }
    let database = try bench.databases.template(for: quake, before: file, bench)
    let child = try psql("\\copy quake.quake to '\(rows)' (format binary)", database, bench)
    _ = try MeasuredChild(folder: bench.folder).run(child)
    try bench.server.waitUntilLeft(database)
    sync()
  }

  private func psql(
    _ command: String, _ database: String, _ bench: Bench
  ) throws -> ChildProcess {
    bench.program(
      try bench.server.psqlPath,
      ["-qX", "-v", "ON_ERROR_STOP=1", "-d", bench.server.conninfo(database), "-c", command])
  }
}
