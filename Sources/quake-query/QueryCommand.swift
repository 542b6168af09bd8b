import CommandLine
import Postgres
import QuakeSchema
import QuakeTool

/// `quake-query`: which subcommand does what.
enum QueryCommand {
  static let table = Command(
    "quake-query", purpose: "ask the earthquake database for its events and their history",
    version: productVersion, options: Tool.commonOptions,
    subcommands: [
      HistoryCommand.table, ListCommand.table, DiffCommand.table, VersionsCommand.table,
      ShowCommand.table,
    ],
    examples: [
      .init("quake-query list --min-magnitude 6 --limit 10", "the latest large earthquakes"),
      .init("quake-query history --since 2026-11-20 --author alice", "what alice changed since"),
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    switch arguments.subcommand.first {
    case "history": try HistoryCommand.run(arguments, diagnostics)
    case "list": try ListCommand.run(arguments, diagnostics)
    case "diff": try DiffCommand.run(arguments, diagnostics)
    case "versions": try VersionsCommand.run(arguments, diagnostics)
    default: try ShowCommand.run(arguments, diagnostics)
    }
  }

  /// A connection to a database whose schema is as this program expects it.
  static func connect(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> Connection {
    let connection = try DatabaseAccess(arguments, diagnostics).connect()
    // A server that never answers would be waited for without end; no honest one takes so long.
    connection.answerTimeout = .seconds(3600)
    try Migrator.checkSchema(of: connection)
    return connection
  }

  /// What is said of an id that names no event.
  static func unknown(_ id: String, _ diagnostics: Diagnostics) -> ExitStatus {
    diagnostics.error(
      "there is no event \"\(PrintableText.line(id))\"",
      hint: "An id is that of a feed, network and number together, such as us7000pn9s.")
    return .failed
  }
}
