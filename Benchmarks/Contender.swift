import Basics
import Glibc
import Postgres

/// A program that loads a file of events.
struct Contender: Sendable {
  /// Its name on the command line and in the tables.
  let name: String
  /// Its description in the help.
  let summary: String
  /// The table that it fills. Contenders of the same table leave the same rows, and share the databases that
  /// they start with.
  let table: Table
  /// Whether it always loads into an empty database, as the limit does, whatever the others start from.
  var alwaysStartsEmpty = false
  /// How to get it.
  let hint: String
  /// Its versions for the report; nil: it is not installed.
  let version: @Sendable (Bench) -> String?
  /// The program that loads a file into a database.
  let command: @Sendable (_ file: DataFile, _ database: String, Bench) throws -> ChildProcess

  enum Table: String {
    case quake = "quake.quake"
    /// The columns, constraints and indexes of `quake.quake`, and no triggers.
    case plain = "public.plain"
  }
}

extension Contender {
  /// In the order of the tables.
  static let all = [
    limit, quake,
    ingest(
      "quake-jobs", ["--jobs", "2", "--commit-every", "20000"],
      summary: "the same with --jobs 2 --commit-every 20000"),
    psycopg,
  ]

  /// psql copies a ready-made binary file.
  static let limit = Contender(
    name: "limit",
    summary: "psql copies ready-made rows into an identical table without triggers",
    table: .plain, alwaysStartsEmpty: true,
    hint: "install PostgreSQL's client (on Debian: postgresql-client)",
    version: { bench in
      (try? bench.server.psqlPath).flatMap { bench.firstLine(of: bench.program($0, ["--version"])) }
    },
    command: { file, database, bench in
      let rows = bench.data.path(file.name + ".rows")
      if access(rows, R_OK) != 0 { try write(rows, of: file, bench) }
      return try bench.psql("\\copy public.plain from '\(rows)' (format binary)", database)
    })

  /// Writes the rows as an import stores them.
  private static func write(_ rows: String, of file: DataFile, _ bench: Bench) throws {
    let database = try bench.databases.template(for: quake, before: file, bench)
    _ = try Measurement(
      of: bench.psql("\\copy quake.quake to '\(rows)' (format binary)", database), in: bench.folder)
    try bench.server.waitUntilLeft(database)
    sync()
  }

  static let quake = ingest(
    "quake", [], summary: "quake-ingest import, with history, token and notification")

  /// `quake-ingest import` with options.
  private static func ingest(
    _ name: String, _ options: [String], summary: String
  ) -> Contender {
    Contender(
      name: name, summary: summary, table: .quake,
      hint: "run \"make build\", or name the tools' folder with --bin",
      version: { $0.firstLine(of: $0.tool("quake-ingest", ["--version"])) },
      command: { file, database, bench in
        bench.tool(
          "quake-ingest", ["import", "--quiet"] + options + [file.path], database: database)
      })
  }

  /// A script as an expert in PostgreSQL would write it. It is beside the sources of this program.
  private static let psycopg = Contender(
    name: "psycopg",
    summary: "a Python script with COPY, a temporary table and insert ... on conflict",
    table: .plain, hint: "pip install 'psycopg[binary]', and name that Python in PYTHON",
    version: { bench in
      let versions = """
        import importlib.metadata as m, platform
        print(', '.join(f'{p} {m.version(p)}' for p in ['psycopg', 'psycopg-binary']) + ', Python ' \
        + platform.python_version())
        """
      return bench.firstLine(of: bench.found(bench.options.python, ["-c", versions]))
    },
    command: { file, database, bench in
      let source = #filePath
      let folder = source.lastIndex(of: "/").map { String(source[..<$0]) } ?? "."
      return bench.found(
        bench.options.python, [folder + "/contenders/psycopg_copy.py", file.path],
        database: database)
    })

  /// Throws unless it has stored the file and, if it keeps a history, what came before it.
  func check(_ file: DataFile, before: DataFile?, over connection: Connection) throws {
    let stored = try Contents(of: table.rawValue, over: connection)
    guard stored == file.contents else {
      throw BenchFailure(
        "\(name) left wrong rows of \(file.name)",
        detail: "There should be \(file.contents); there are \(stored).")
    }
    guard table == .quake else { return }
    let row = try connection.row(
      """
      select (select count(*) from quake.quake_version where op = 'insert'),
             (select count(*) from quake.quake_version where op = 'update'),
             (select count(*) from quake.quake_version where op not in ('insert', 'update')),
             (select coalesce(sum(inserted), 0)::bigint from quake.change_transaction),
             (select coalesce(sum(updated), 0)::bigint from quake.change_transaction)
      """, as: (Int, Int, Int, Int, Int).self)
    let events = (before ?? file).contents.events
    let revised = before == nil ? 0 : file.revised
    try [row.0, row.1, row.2, row.3, row.4].require(
      [events, revised, 0, events, revised], "the history of \(file.name) is wrong",
      "Versions by insert, by update, others, and those the transactions count")
  }
}

extension [Int] {
  /// Throws unless these are the numbers that are wanted.
  func require(_ wanted: [Int], _ message: String, _ meaning: String) throws {
    guard self == wanted else {
      throw BenchFailure(message, detail: "\(meaning): \(self), not \(wanted).")
    }
  }
}
