import Basics
import Glibc
import Postgres

/// A program that loads a file of events.
struct Contender: Sendable {
  /// Its name on the command line and in the tables.
  let name: String
  /// Its description in the help.
  let summary: String
  /// The layout of its empty database. Contenders of the same layout leave the same rows, and share
  /// the databases that they start with.
  let layout: Layout
  /// Whether it always loads into an empty database, as the limit does, whatever the others start from.
  var alwaysStartsEmpty = false
  /// Whether it is so slow that the large files are loaded once, or not at all.
  var pace = Pace.quick
  /// Whether it keeps a history, which is then checked too.
  var keepsHistory = false
  /// A query for one row: the figures of `Contents` of what it has stored.
  let contents: SQL
  /// How to get it.
  var hint = ""
  /// Its versions for the report; nil: it is not installed.
  let version: @Sendable (Bench) -> String?
  /// The program that loads a file into a database.
  let command: @Sendable (_ file: DataFile, _ database: String, Bench) throws -> ChildProcess
}

/// The tables of a database before a load.
enum Layout: Hashable {
  /// Quake's schema.
  case quake
  /// `public.plain`: the columns, constraints and indexes of `quake.quake`, and no triggers.
  case plain
  /// No tables: the contender creates its own.
  case own(String)
}

/// How often a contender is run, which depends on the size of the file.
enum Pace {
  /// It runs as often as `--repeat` says.
  case quick
  /// With more than 50,000 events, or with `--quick`, it runs once.
  case slow
  /// With more than 50,000 events it does not run; with fewer it is treated as `slow`.
  case smallOnly

  /// How often it runs.
  func rounds(of repeats: Int, events: Int, isQuick: Bool) -> Int {
    let isLarge = events > 50_000
    switch self {
    case .quick: return repeats
    case .slow: return isLarge || isQuick ? 1 : repeats
    case .smallOnly: return isLarge ? 0 : isQuick ? 1 : repeats
    }
  }
}

extension Contender {
  /// In the order of the tables.
  static let all = [
    limit, quake,
    ingest(
      "quake-jobs", ["--jobs", "2", "--commit-every", "20000"],
      summary: "the same with --jobs 2 --commit-every 20000"),
    // Two of the three methods that Quake's predecessor, a sample project, compares, rebuilt on PostgreSQL. The
    // third, streaming, is Quake itself.
    own(
      .oneByOne, "one by one", .smallOnly, summary: "a statement and a commit for each record"),
    own(
      .dictionaryBatches, "batches", .slow,
      summary: "a statement and a commit for 256 records, decoded as dictionaries"),
    // A script as an expert in PostgreSQL would write it.
    script(
      "psycopg", "psycopg_copy.py", ["psycopg", "psycopg-binary"], plain, layout: .plain,
      summary: "a Python script with COPY, a temporary table and insert ... on conflict",
      hint: "pip install 'psycopg[binary]', and name that Python in PYTHON"),
    script(
      "dlt", "dlt_load.py", ["dlt", "psycopg2-binary"], foreign("quakes.quake"),
      layout: .own("dlt"), pace: .slow, summary: "dlt, merging by primary key",
      hint: "pip install 'dlt[postgres]', and name that Python in PYTHON"),
    ogr2ogr, jq,
  ]

  private static let plain = Contents.statement(table: "public.plain")

  /// The figures of a table whose columns have the names of the feed.
  private static func foreign(_ table: String) -> SQL {
    Contents.statement(table: table, magnitude: "mag", time: "time", updated: "updated")
  }

  // MARK: - The limit

  /// psql copies a ready-made binary file.
  static let limit = Contender(
    name: "limit",
    summary: "psql copies ready-made rows into an identical table without triggers",
    layout: .plain, alwaysStartsEmpty: true, contents: plain,
    hint: "install PostgreSQL's client (on Debian: postgresql-client)",
    version: { bench in
      (try? bench.server.psqlPath).flatMap { bench.firstLine(of: $0, ["--version"]) }
    },
    command: { file, database, bench in
      let rows = bench.data.path(file.name + ".rows")
      if access(rows, R_OK) != 0 { try write(rows, of: file, bench) }
      return try psql("\\copy public.plain from '\(rows)' (format binary)", database, bench)
    })

  /// Writes the rows as an import stores them.
  private static func write(_ rows: String, of file: DataFile, _ bench: Bench) throws {
    let database = try bench.databases.template(for: quake, before: file, bench)
    let child = try psql("\\copy quake.quake to '\(rows)' (format binary)", database, bench)
    _ = try MeasuredChild(folder: bench.folder).run(child)
    try bench.server.waitUntilLeft(database)
    sync()
  }

  private static func psql(
    _ command: String, _ database: String, _ bench: Bench
  ) throws -> ChildProcess {
    bench.program(
      try bench.server.psqlPath,
      ["-qX", "-v", "ON_ERROR_STOP=1", "-d", bench.server.conninfo(database), "-c", command])
  }

  // MARK: - Quake

  static let quake = ingest(
    "quake", [], summary: "quake-ingest import, with history, token and notification")

  /// `quake-ingest import` with options.
  private static func ingest(
    _ name: String, _ options: [String], summary: String
  ) -> Contender {
    Contender(
      name: name, summary: summary, layout: .quake, keepsHistory: true,
      contents: Contents.statement(table: "quake.quake"),
      hint: "run \"make build\", or name the tools' folder with --bin",
      version: { $0.firstLine(of: $0.options.bin + "/quake-ingest", ["--version"]) },
      command: { file, database, bench in
        bench.tool(
          "quake-ingest", ["import", "--quiet"] + options + [file.path], database: database)
      })
  }

  /// This program in a role.
  private static func own(
    _ role: Role, _ name: String, _ pace: Pace, summary: String
  ) -> Contender {
    Contender(
      name: name, summary: summary, layout: .plain, pace: pace, contents: plain,
      version: { _ in "this program" },
      command: { file, database, bench in
        bench.program(BenchOptions.program, role.arguments + [file.path], database: database)
      })
  }

  // MARK: - Peers

  /// The folder of the scripts, beside the sources that this program was built from.
  private static let scripts: String = {
    let path = #filePath
    return (path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".") + "/contenders/"
  }()

  /// A Python script, and the packages whose versions the report has.
  private static func script(
    _ name: String, _ script: String, _ packages: [String], _ contents: SQL, layout: Layout,
    pace: Pace = .quick, summary: String, hint: String
  ) -> Contender {
    let names = packages.map { "'\($0)'" }.joined(separator: ", ")
    let versions = """
      import importlib.metadata as m, platform
      print(', '.join(f'{p} {m.version(p)}' for p in [\(names)]) + ', Python ' + platform.python_version())
      """
    return Contender(
      name: name, summary: summary, layout: layout, pace: pace, contents: contents, hint: hint,
      version: { bench in
        SearchPath.find(bench.options.python).flatMap { bench.firstLine(of: $0, ["-c", versions]) }
      },
      command: { file, database, bench in
        bench.program(
          try SearchPath.require(bench.options.python), [scripts + script, file.path],
          database: database)
      })
  }

  /// GDAL's converter, which creates its own table. It cannot merge, so it loads everything again.
  private static let ogr2ogr = Contender(
    name: "ogr2ogr", summary: "GDAL's ogr2ogr, loading everything again", layout: .own("ogr2ogr"),
    pace: .slow, contents: foreign("public.quake"),
    hint: "install GDAL's programs (on Debian: gdal-bin)",
    version: { bench in
      SearchPath.find("ogr2ogr").flatMap { bench.firstLine(of: $0, ["--version"]) }
    },
    command: { file, database, bench in
      bench.program(
        try SearchPath.require("ogr2ogr"),
        [
          "-f", "PostgreSQL", "PG:" + bench.server.conninfo(database), file.path, "-nln", "quake",
          "-overwrite", "-gt", "unlimited", "--config", "PG_USE_COPY", "YES",
          // No limit to the size of a JSON document, which it may hold in memory.
          "--config", "OGR_GEOJSON_MAX_OBJ_SIZE", "0",
        ])
    })

  /// A shell pipeline: jq writes CSV, psql copies it into a temporary table and merges that.
  private static let jq = Contender(
    name: "jq", summary: "jq, psql and a temporary table", layout: .plain, pace: .slow,
    contents: plain, hint: "install jq (on Debian: jq)",
    version: { bench in
      SearchPath.find("jq").flatMap { bench.firstLine(of: $0, ["--version"]) }
    },
    command: { file, database, bench in
      bench.program(
        "/bin/sh", [scripts + "jq_copy.sh", file.path], database: database,
        environment: ["PSQL": try bench.server.psqlPath])
    })
}
