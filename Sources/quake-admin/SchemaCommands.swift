import CommandLine
import QuakeModel
import QuakeSchema
import QuakeTool

enum MigrateCommand {
  static let table = Command(
    "migrate", purpose: "bring the database's schema up to date",
    options: [
      .flag("dry-run", help: "list the migrations that would be applied; apply nothing"),
      .flag("status", help: "list all migrations, with the time and the program that applied them"),
    ],
    examples: [
      .init("quake-admin migrate --dry-run", "list pending migrations"),
      .init(
        "quake-admin migrate --database postgresql://db.example.org/quake",
        "migrate another database"),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    try arguments.requireAtMostOne(of: "dry-run", "status")
    Signals.install()
    let changes = !arguments.flag("status") && !arguments.flag("dry-run")
    let database = try DatabaseAccess(arguments, diagnostics, creates: changes)
    let connection = try database.connect(wake: Signals.wakeDescriptor, migrates: false)
    let migrator = try database.migrator(over: connection)
    let output = StandardOutput()
    if arguments.flag("status") {
      var table = TextTable([.number("version"), .text("name"), .text("applied at"), .text("by")])
      for entry in try migrator.status() {
        table.add([
          "\(entry.version)", entry.name,
          entry.appliedAt.map { Timestamp(iso8601: $0)?.text ?? $0 } ?? "pending",
          entry.program ?? "",
        ])
      }
      try output.write(table.render())
    } else if arguments.flag("dry-run") {
      let pending = try migrator.status().filter { $0.appliedAt == nil }
      for entry in pending {
        try output.writeLine("would apply migration \(entry.version) (\(entry.name))")
      }
      if pending.isEmpty {
        try database.checkSchema(of: connection)
        try output.writeLine("the schema is up to date")
      }
    } else {
      let progress = MigrationProgress(diagnostics)
      var applied: [Migrator.Entry] = []
      let outcome = Result {
        try migrator.migrate {
          progress.report($0)
          if case .applied(let entry) = $0 { applied.append(entry) }
        }
      }
      // Those before one that fails stay.
      for entry in applied {
        try output.writeResult(
          "applied migration \(entry.version) (\(entry.name))", diagnostics)
      }
      try output.flush()
      _ = try outcome.get()
      if !applied.isEmpty { try database.grantAfterMigrations(over: connection) }
      // A newer program may have migrated further.
      try database.checkSchema(of: connection)
      if applied.isEmpty { try output.writeResult("the schema is up to date", diagnostics) }
    }
    try output.flush()
    return .ok
  }
}

/// `quake-admin postgis`: adds or removes the geometry of the events.
enum PostGISCommand {
  static let table = Command(
    "postgis", purpose: "add or remove the points of the events for programs that read PostGIS",
    subcommands: [
      Command(
        "enable", purpose: "add the column geom with an index, and the view quake.quake_point",
        discussion: """
          The column is generated from longitude and latitude (EPSG:4326). The server needs PostGIS. \
          The command rewrites the table while importers and readers wait: about 10 s for 1,000,000 \
          events. Afterwards each import also writes the new index.
          """,
        examples: [.init("quake-admin postgis enable", "add the points")]),
      Command(
        "disable", purpose: "remove the view, the index and the column",
        discussion: "The extension stays. No event is lost.",
        examples: [.init("quake-admin postgis disable", "remove the points")]),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let connection = try DatabaseAccess(arguments, diagnostics).connectToStore()
    let isEnabling = arguments.subcommand.last == "enable"
    let isChanged =
      isEnabling ? try PostGIS.enable(over: connection) : try PostGIS.disable(over: connection)
    let output = StandardOutput()
    switch (isEnabling, isChanged) {
    case (true, true):
      try output.writeResult("the view quake.quake_point shows the events as points", diagnostics)
    case (true, false): try output.writeResult("it was enabled already", diagnostics)
    case (false, true): try output.writeResult("removed the points", diagnostics)
    case (false, false): try output.writeResult("it was not enabled", diagnostics)
    }
    try output.flush()
    return .ok
  }
}
