import CIdleMemory
import CommandLine
import Postgres
import QuakeFeed
import QuakeImport
import QuakeSimulator
import QuakeTool

/// `quake-ingest`: which subcommand does what.
enum IngestCommand {
  static let table = Command(
    "quake-ingest", purpose: "bring earthquake feeds into the database",
    version: productVersion, options: Tool.commonOptions,
    subcommands: [
      RunCommand.table, ImportCommand.table, BackfillCommand.table, ReplayCommand.table,
      SimulateCommand.table,
    ],
    examples: [
      .init("quake-ingest run --feed all_day", "poll USGS's feed of the past day each minute"),
      .init("quake-ingest import all_month.geojson", "import a file"),
    ],
    environment: DatabaseAccess.environment + [TemporaryFolder.variable],
    exitStatuses: Tool.exitStatuses)

  /// Whose events they are, for `import` and `backfill`.
  static let sourceOption = Option.value(
    "source", "NAME",
    help: """
      the data centre whose events they are, such as usgs, emsc or ingv, where FDSN text is read; by \
      default the host of the URL tells
      """)

  /// Options of `run` and `import` alike.
  static func importOptions(of command: String) -> [Option] {
    [
      .value(
        "author", "NAME", default: "quake-ingest", help: "author of the changes, in the history"),
      .value(
        "merge", "POLICY", default: "incoming",
        completion: .words(MergePolicy.allCases.map(\.rawValue)),
        help: """
          for events that are there with other contents: incoming (the incoming one wins, unless \
          it is of an older snapshot), always, store (the stored one stays), error
          """),
      .value(
        "commit-every", "N",
        help: "commit after each N records instead of all or nothing; can be repeated safely"),
      .value(
        "timeout", "DURATION", default: "30s",
        help: "how long to wait for a server that sends nothing"),
    ] + (command == "replay" ? [] : downloadOptions(of: command)) + [
      .flag("strict", help: "reject records without a magnitude or a place, too"),
      .flag("dry-run", help: "do everything, then roll it back"),
    ]
  }

  private static func downloadOptions(of command: String) -> [Option] {
    [
      .value(
        "download-timeout", "DURATION", default: downloadTimeout(of: command).text,
        help: "how long a download may take in all, as far as it is waited for"),
      .flag(
        "allow-any-redirect",
        help: """
          follow redirects from https to http, too, and to addresses that are nearer to this machine than \
          the server: loopback, link-local, private
          """),
    ]
  }

  /// How long a download may take. What `import` fetches may be a catalogue.
  static func downloadTimeout(of command: String?) -> Duration {
    command == "import" ? .seconds(3600) : .seconds(600)
  }

  /// Connects, and gives back the memory that only start-up needed: what an import takes comes on top of
  /// what is left.
  static func connect(
    to database: DatabaseAccess, migrates: Bool? = nil
  ) throws -> Connection {
    let connection = try database.connect(wake: Signals.wakeDescriptor, migrates: migrates)
    quake_give_back_idle_memory()
    return connection
  }

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    switch arguments.subcommand.first {
    case "import": try ImportCommand(arguments, diagnostics).run()
    case "backfill": try BackfillCommand(arguments, diagnostics).run()
    case "replay": try ReplayCommand(arguments, diagnostics).run()
    case "simulate": try SimulateCommand.run(arguments, diagnostics)
    default: try RunCommand(arguments, diagnostics).run()
    }
  }
}
