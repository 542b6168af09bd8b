import CommandLine
import QuakeFeed
import QuakeSimulator
import QuakeStore
import QuakeTool

/// `quake-ingest run`: its options, and what they mean.
struct RunCommand {
  static let table = Command(
    "run", purpose: "poll feeds and import each snapshot, for as long as it is let",
    discussion: """
      Asks no more often than a server's Cache-Control, Expires and Retry-After allow, and only for \
      what has changed. A bad feed or a lost database is told of and tried again. SIGTERM or SIGINT \
      finish the import in hand.
      """,
    options: [
      .value(
        "feed", "NAME|URL|FILE", repeatable: true, default: "all_day", completion: .files,
        help: """
          feed to poll: USGS's name for it, such as all_hour or 2.5_week, a URL, a file, or \
          simulated, which needs no network
          """),
      .value("every", "DURATION", help: "time between two polls; default 60s, for simulated 2s"),
      .flag("once", help: "poll each feed once and end"),
      .value(
        "keep-history", "AGE", default: "all of it",
        help: "let go of history that is older, such as 90d; see quake-admin history purge"),
      .toggle("migrate", initially: true, help: "do not bring the schema up to date first"),
    ] + IngestCommand.importOptions + JudgingOptions.options,
    examples: [
      .init(
        "quake-ingest run --feed all_hour --feed all_month --every 5m", "poll two feeds"),
      .init("quake-ingest run --feed simulated", "try it out without a network"),
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  /// The name of the feed that is made up in this very process.
  static let simulated = "simulated"

  private let database: DatabaseAccess
  private let diagnostics: Diagnostics
  private let settings: ImportSettings
  private let judging: JudgingOptions
  private let feeds: [String]
  private let every: Duration?
  private let runsOnce: Bool
  private let migrates: Bool
  private let keptHistory: Duration?

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    var diagnostics = diagnostics
    diagnostics.form = .log
    self.diagnostics = diagnostics
    settings = try ImportSettings(arguments)
    judging = try JudgingOptions(arguments, refusesOlder: true)
    feeds = arguments.isGiven("feed") ? arguments.strings("feed") : ["all_day"]
    every = try arguments.duration("every")
    runsOnce = arguments.flag("once")
    migrates = arguments.flag("migrate")
    keptHistory = try arguments.duration("keep-history", in: .seconds(1)...)
    if feeds.contains("-"), !runsOnce {
      throw arguments.usageError("standard input cannot be polled; use --once, or import")
    }
    if let every, every <= .zero {
      throw arguments.invalidValue(
        arguments.string("every") ?? "", for: "every", expected: "a duration longer than nothing")
    }
    database = try DatabaseAccess(arguments, diagnostics)
  }

  func run() throws -> ExitStatus {
    Signals.install()
    // A name that is wrong will not get right by waiting.
    var simulator: SimulatedFeedServer?
    defer { simulator?.stop() }
    var polled: [PolledFeed] = []
    for feed in feeds {
      if feed == Self.simulated {
        let server = try Self.startSimulator()
        simulator = server
        polled.append(
          PolledFeed(
            name: Self.simulated, reference: try FeedReference(Self.url(of: server)),
            every: every ?? .seconds(2)))
      } else {
        let reference = try FeedReference(feed)
        polled.append(
          PolledFeed(name: reference.name, reference: reference, every: every ?? .seconds(60)))
      }
    }
    // So will a wrong address of the database not; one that was there once is waited for.
    let connection = try database.connect(wake: Signals.wakeDescriptor, migrates: migrates)
    try Migrator.checkSchema(of: connection)
    diagnostics.note("polling \(polled.map(\.name).joined(separator: ", "))")
    let worker = Worker(
      database: database, connection: connection, diagnostics: diagnostics, settings: settings,
      judging: judging, feeds: polled,
      history: keptHistory.map { HistoryKeeper(keeping: $0, diagnostics: diagnostics) }
    )
    let status = runsOnce ? worker.pollOnce() : try worker.run()
    diagnostics.note("stopped")
    return status
  }

  private static func startSimulator() throws -> SimulatedFeedServer {
    var options = SimulatorOptions()
    options.events = 2_000
    options.rate = 120
    options.maxAge = 1
    return try SimulatedFeedServer(options)
  }

  private static func url(of server: SimulatedFeedServer) -> String {
    guard let feed = SummaryFeed(name: "all_month") else {
      preconditionFailure("all_month is one of the simulator's feeds")
    }
    return server.url(of: feed)
  }
}
