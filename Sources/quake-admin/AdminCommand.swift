import CommandLine
import QuakeTool

enum AdminCommand {
  private typealias Run = @Sendable (ParsedArguments, Diagnostics) throws -> ExitStatus

  private static let commands: [(table: Command, run: Run)] = [
    (StatusCommand.table, { try StatusCommand($0, $1).run() }),
    (DoctorCommand.table, DoctorCommand.run), (MigrateCommand.table, MigrateCommand.run),
    (FeedsCommand.table, FeedsCommand.run), (ImportsCommand.table, ImportsCommand.run),
    (RefreshCommand.table, { try RefreshCommand($0, $1).run() }),
    (EventsCommand.table, EventsCommand.run),
    (AssociationsCommand.table, AssociationsCommand.run),
    (HistoryCommand.table, HistoryCommand.run), (WatchersCommand.table, WatchersCommand.run),
    (ConsumersCommand.table, ConsumersCommand.run), (RolesCommand.table, RolesCommand.run),
    (RegionCommand.table, RegionCommand.run), (PostGISCommand.table, PostGISCommand.run),
    (ServerCommand.table, ServerCommand.run),
  ]

  static let table = Command(
    "quake-admin", purpose: "administer the earthquake database",
    version: productVersion, options: Tool.commonOptions, subcommands: commands.map(\.table),
    examples: [
      .init("quake-admin status", "the health of feeds, workers and the database"),
      .init("quake-admin migrate --status", "applied and pending migrations"),
      .init("quake-admin server status", "whether the embedded server runs, and its folder"),
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    guard let command = commands.first(where: { $0.table.name == arguments.subcommand.first })
    else { preconditionFailure("the parser accepts only these commands") }
    return try command.run(arguments, diagnostics)
  }
}
