import CommandLine
import Glibc
import Postgres
import QuakeTool

/// `quake-admin` and its subcommands.
enum AdminCommand {
  static let table = Command(
    "quake-admin", purpose: "administer the earthquake database",
    version: productVersion, options: Tool.commonOptions,
    subcommands: [
      StatusCommand.table, DoctorCommand.table, MigrateCommand.table, FeedsCommand.table,
      ImportsCommand.table,
      RefreshCommand.table, EventsCommand.table, AssociationsCommand.table, HistoryCommand.table,
      WatchersCommand.table, ConsumersCommand.table, RolesCommand.table, RegionCommand.table,
      PostGISCommand.table, ServerCommand.table,
      CompleteCommand.table,
    ],
    examples: [
      .init("quake-admin status", "the health of feeds, workers and the database"),
      .init("quake-admin migrate --status", "applied and pending migrations"),
      .init("quake-admin server status", "whether the embedded server runs, and its folder"),
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    switch arguments.subcommand.first {
    case "status": try StatusCommand(arguments, diagnostics).run()
    case "doctor": try DoctorCommand.run(arguments, diagnostics)
    case "migrate": try MigrateCommand.run(arguments, diagnostics)
    case "feeds": try FeedsCommand.run(arguments, diagnostics)
    case "imports": try ImportsCommand.run(arguments, diagnostics)
    case "refresh": try RefreshCommand(arguments, diagnostics).run()
    case "events": try EventsCommand.run(arguments, diagnostics)
    case "associations": try AssociationsCommand.run(arguments, diagnostics)
    case "history": try HistoryCommand.run(arguments, diagnostics)
    case "watchers": try WatchersCommand.run(arguments, diagnostics)
    case "consumers": try ConsumersCommand.run(arguments, diagnostics)
    case "roles": try RolesCommand.run(arguments, diagnostics)
    case "region": try RegionCommand.run(arguments, diagnostics)
    case "complete": try CompleteCommand.run(arguments, diagnostics)
    case "postgis": try PostGISCommand.run(arguments, diagnostics)
    default: try ServerCommand.run(arguments, diagnostics)
    }
  }
}

/// `quake-admin complete`: prints names for the completions of the shells. It is hidden, because only they use it.
///
/// A person waits for the completion: after 100 ms the command ends and prints nothing. It never starts a server,
/// and reports no error.
enum CompleteCommand {
  static let table = Command(
    "complete", purpose: "print names for the completions of shells",
    positionals: [
      .init("KIND", completion: .words(queries.keys.sorted()), help: "the kind of the names")
    ], isHidden: true)

  /// The command line that prints the names of a kind.
  static func line(_ kind: String) -> String { "quake-admin complete \(kind)" }

  private static let patience: useconds_t = 100_000

  private static let queries: [String: SQL] = [
    "feeds": "select name from quake.feed order by name limit 500",
    "consumers": "select name from quake.consumer order by name limit 500",
    "watchers": "select name from quake.watcher order by name limit 500",
    "imports": """
    select id::text from quake.import
     where quarantine_reason is not null and decision is null order by id desc limit 100
    """,
  ]

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    guard let query = queries[arguments.positional("KIND") ?? ""] else { return .ok }
    signal(SIGALRM) { _ in _exit(0) }
    ualarm(patience, 0)
    guard let connection = try? DatabaseAccess(arguments, diagnostics).connectAsItIs(),
      let names = try? connection.rows(query, as: String.self)
    else { return .ok }
    let output = StandardOutput()
    // A shell puts the names into a command line as they are.
    for name in names where name.utf8.allSatisfy(isPlain) { try output.writeLine(name) }
    try output.flush()
    return .ok
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "._-:/@+".utf8.contains(byte)
    }
  }
}
