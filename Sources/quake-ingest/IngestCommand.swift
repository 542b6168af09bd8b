import CLinux
import CommandLine
import Postgres
import QuakeFeed
import QuakeImport
import QuakeSimulator
import QuakeTool

enum IngestCommand {
  static let table = Command(
    "quake-ingest", purpose: "import earthquake feeds into the database",
    version: productVersion, options: Tool.commonOptions,
    subcommands: [
      RunCommand.table, ImportCommand.table, BackfillCommand.table, ReplayCommand.table,
      SimulateCommand.table,
    ],
    examples: [
      .init("quake-ingest run --feed all_day", "poll the USGS feed of the past day each minute"),
      .init("quake-ingest import all_month.geojson", "import a file"),
    ],
    environment: DatabaseAccess.environment + [TemporaryFolder.variable],
    exitStatuses: Tool.exitStatuses)

  /// The option of `import` and `backfill` that names the source.
  static let sourceOption = Option.value(
    "source", "NAME",
    help: """
      the data centre of the events in FDSN text, QuakeML or SeisComP's XML, such as usgs, emsc or \
      ingv; by default derived from the host of the URL
      """)

  /// The options that `run` and `import` share.
  static func importOptions(of command: String) -> [Option] {
    [
      .value(
        "author", "NAME", default: "quake-ingest", help: "author of the changes, in the history"),
      .value(
        "merge", "POLICY", default: "incoming",
        completion: .words(MergePolicy.allCases.map(\.rawValue)),
        help: """
          what to do if a stored event has other contents: incoming (replace it, unless the snapshot is \
          older), always (replace it), store (keep it), error
          """),
      .value(
        "commit-every", "N",
        help: "commit after every N records instead of once; repeating the import is safe"),
      .value(
        "timeout", "DURATION", default: "30s",
        help: "longest time to wait while a server sends nothing"),
    ] + (command == "replay" ? [] : downloadOptions(of: command)) + [
      .flag("strict", help: "also reject records without a magnitude or a place"),
      .flag(
        "mix-simulated",
        help: "store simulated events although the store has events of other sources"),
      .flag("dry-run", help: "import, then roll back"),
    ]
  }

  private static func downloadOptions(of command: String) -> [Option] {
    let files = command == "run" ? "" : "; by default, files have no limit"
    let options: [Option] = [
      .value(
        "download-timeout", "DURATION", default: downloadTimeout(of: command).text,
        help: "longest time for a download, not counting pauses of the import itself"),
      .flag(
        "allow-any-redirect",
        help: """
          also follow redirects from https to http, and from a public server to loopback, link-local or \
          private addresses
          """),
      .value(
        "max-body", "SIZE", default: ByteSize.text(longestBody(of: command)),
        help: """
          most bytes of a body, before and after decompression, such as 500MiB or 2GiB\(files)
          """),
    ]
    // `run` needs none: it imports bodies of limited length that have arrived.
    guard command != "run" else { return options }
    return options + [
      .value(
        "total-timeout", "DURATION", default: totalTimeout(of: command).text,
        help: "longest time to fetch and import one body, counting the import's own work")
    ]
  }

  /// The default limit for a download. `import` has a longer one, because it may fetch a catalogue.
  static func downloadTimeout(of command: String?) -> Duration {
    command == "import" ? .seconds(3600) : .seconds(600)
  }

  /// The most bytes of a body that is fetched, by default.
  static func longestBody(of command: String?) -> Int {
    switch command {
    case "import": FeedReader.longestFetched
    case "backfill": FeedReader.longestAnswer
    default: FeedReader.longestPolled
    }
  }

  /// The default limit for fetching a body and importing it.
  static func totalTimeout(of command: String?) -> Duration {
    command == "import" ? .seconds(86_400) : .seconds(3600)
  }

  /// Connects to the store, and releases the memory that only start-up needed, so that it does not add to the peak
  /// of an import.
  static func connect(
    to database: DatabaseAccess, migrates: Bool? = nil
  ) throws -> Connection {
    let connection = try database.connectToStore(
      wake: Signals.wakeDescriptor, migrates: migrates)
    quake_release_idle_memory()
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

/// The configuration file of `quake-ingest`, in which addresses of feeds may contain secrets.
enum IngestConfiguration {
  /// Adds the options of the configuration file, if there is one, to a command line.
  static func complete(
    _ arguments: ParsedArguments, _ diagnostics: inout Diagnostics
  ) throws -> ParsedArguments {
    try CommandConfiguration.complete(arguments, &diagnostics, allowsSections: true) { settings in
      settings.first { setting in
        let address = setting.section == nil ? FeedText(setting.value).feed : setting.value
        return setting.key == (setting.section == nil ? "feed" : "url")
          && FeedURL.holdsSecret(address)
      }
      .map {
        (
          "a password or a token of a feed", $0.line,
          "refer to the secret in the value: ${NAME}, ${file:PATH} or ${credential:NAME}."
        )
      }
    }
  }
}
