import CommandLine
import QuakeTool

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
    case "postgis": try PostGISCommand.run(arguments, diagnostics)
    default: try ServerCommand.run(arguments, diagnostics)
    }
  }
}
