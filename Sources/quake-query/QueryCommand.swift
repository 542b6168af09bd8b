import CommandLine
import Postgres
import QuakeTool

enum QueryCommand {
  static let table = Command(
    "quake-query", purpose: "query the earthquake database and its history",
    version: productVersion, options: Tool.commonOptions,
    subcommands: [
      HistoryCommand.table, ListCommand.table, StatsCommand.table, DiffCommand.table,
      VersionsCommand.table, ShowCommand.table, ExportCommand.table, VerifyCommand.table,
    ],
    examples: [
      .init("quake-query list --min-magnitude 6 --limit 10", "the latest large earthquakes"),
      .init(
        "quake-query history --since 2026-11-20 --author alice", "changes by alice since that day"),
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    // An export writes its file itself, compressed if need be.
    if arguments.subcommand.first == "export" {
      return try ExportCommand.run(arguments, diagnostics)
    }
    return try OutputFile.run(to: arguments.string("output")) {
      try runQuery(arguments, diagnostics)
    }
  }

  private static func runQuery(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    switch arguments.subcommand.first {
    case "history": try HistoryCommand.run(arguments, diagnostics)
    case "list": try ListCommand.run(arguments, diagnostics)
    case "stats": try StatsCommand.run(arguments, diagnostics)
    case "diff": try DiffCommand.run(arguments, diagnostics)
    case "versions": try VersionsCommand.run(arguments, diagnostics)
    case "verify": try VerifyCommand.run(arguments, diagnostics)
    default: try ShowCommand.run(arguments, diagnostics)
    }
  }

  /// Connects, and checks that the schema is the one of this program.
  static func connect(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> Connection {
    // Without a limit, a silent server would block the tool for ever. No statement of it takes an hour.
    try DatabaseAccess(arguments, diagnostics).connectToStore(answerTimeout: .seconds(3600))
  }

  /// Reports an id that no event has, and returns the exit status for it.
  ///
  /// - Parameter isDeleted: Whether the history has an event of this id.
  static func unknown(
    _ id: String, isDeleted: Bool = false, _ diagnostics: Diagnostics
  ) -> ExitStatus {
    let id = PrintableText.line(id)
    diagnostics.error(
      isDeleted ? "there is no event \"\(id)\" any more" : "there is no event \"\(id)\"",
      hint: isDeleted
        ? "It was deleted. \"quake-query versions \(id)\" prints its changes."
        : "An id is network and number together, as feeds write it, such as us7000pn9s.")
    return .failed
  }
}
