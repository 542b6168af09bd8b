import CommandLine
import QuakeFeed
import QuakeSchema
import QuakeSimulator
import QuakeTool

/// `quake-ingest run`: its options, and what they mean.
struct RunCommand {
  static let table = Command(
    "run", purpose: "poll feeds and import each snapshot, for as long as it is let",
    discussion: """
      Asks no more often than a server's Cache-Control, Expires and Retry-After allow, and only for \
      what has changed. A bad feed or a lost database is told of and tried again. SIGTERM or SIGINT \
      finish the import in hand.

      Any number of workers may run on one database, as one role: each feed is polled by one of them, \
      and by another within seconds when that one is gone. When a feed is due is kept in the database, \
      over restarts too. "quake-admin refresh" has feeds polled at once.
      """,
    options: [
      .value(
        "feed", "FEED[@DURATION]", repeatable: true,
        default: "all_hour@60s all_day@5m all_month@1h",
        completion: .files,
        help: """
          feed to poll, and how often: USGS's name for it, such as all_hour or 2.5_week, a URL, a \
          file, or simulated, which needs no network; ${NAME}, ${file:PATH} and ${credential:NAME} \
          stand for secrets in a URL
          """),
      .value(
        "every", "DURATION",
        help:
          "time between two polls of feeds that are named without one; default 60s, for simulated 2s"
      ),
      .flag("once", help: "poll each feed once and end"),
      .value(
        "keep-history", "AGE", default: "all of it",
        help: "let go of history that is older, such as 90d; see quake-admin history purge"),
      .value(
        "refresh-interval", "DURATION", default: "10s",
        help: "the least time between a poll and one that somebody asks for"),
      .value(
        "takeover-after", "DURATION", default: "30s",
        help: """
          how long another worker may show no life before its feeds are taken from it; to be the same \
          for all workers of a database
          """),
      .value(
        "keep-rejects", "AGE", default: "30d",
        help: "delete records that could not be taken, with their reasons, when they are older"),
      .toggle("migrate", initially: true, help: "do not bring the schema up to date first"),
      IngestConfiguration.option,
    ] + IngestCommand.importOptions(of: "run") + JudgingOptions.options + [
      JudgingOptions.confirmation
    ],
    examples: [
      .init(
        "quake-ingest run --feed all_hour@1m --feed all_month@1h", "poll two feeds"),
      .init("quake-ingest run --feed simulated", "try it out without a network"),
    ],
    environment: DatabaseAccess.environment + IngestConfiguration.environment + service,
    exitStatuses: Tool.exitStatuses)

  private static let service: [Command.Variable] = [
    .init("NOTIFY_SOCKET, WATCHDOG_USEC, ...", "systemd's, which is told how the worker fares")
  ]

  /// The name of the feed that is made up in this very process.
  static let simulated = "simulated"

  /// What is polled if nothing is named. Events come late and are revised for weeks: an hour's feed
  /// alone would miss them.
  private static let standardFeeds = ["all_hour@60s", "all_day@5m", "all_month@1h"]

  /// A feed as an option names it.
  private struct NamedFeed {
    /// As it is written.
    let text: String
    /// What it means.
    let feed: SecretText
    /// How often it is to be polled; nil: it does not say.
    let every: Duration?
  }

  private static let shortestPause = Duration.milliseconds(1)

  private let arguments: ParsedArguments
  private let database: DatabaseAccess
  private let diagnostics: Diagnostics
  private let importing: ImportSettings
  private let judging: JudgingOptions
  private let settings: WorkerSettings
  private let feeds: [NamedFeed]
  private let every: Duration?
  private let runsOnce: Bool
  private let migrates: Bool
  private let keptHistory: Duration?

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    var diagnostics = diagnostics
    diagnostics.form = .log
    self.diagnostics = diagnostics
    self.arguments = arguments
    importing = try ImportSettings(arguments)
    judging = try JudgingOptions(arguments, refusesOlder: true)
    settings = try WorkerSettings(arguments)
    let named = arguments.strings("feed")
    feeds = try (named.isEmpty ? Self.standardFeeds : named).map { text in
      let timed = TimedValue(text)
      return NamedFeed(
        text: text,
        feed: try arguments.secretText(text, template: timed.value, option: "feed"),
        every: timed.duration)
    }
    every = try arguments.duration("every", in: Self.shortestPause...)
    runsOnce = arguments.flag("once")
    migrates = arguments.flag("migrate")
    keptHistory = try arguments.duration("keep-history", in: .seconds(1)...)
    if feeds.contains(where: { $0.feed.text == "-" }), !runsOnce {
      throw arguments.usageError("standard input cannot be polled; use --once, or import")
    }
    if every != nil, named.isEmpty {
      throw arguments.usageError("option --every is for feeds that --feed names")
    }
    // Without the value, which may hold a password.
    if feeds.contains(where: { $0.every.map { $0 < Self.shortestPause } == true }) {
      throw arguments.usageError(
        "what follows the @ in option --feed must be at least \(Self.shortestPause.text)")
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
      if feed.feed.text == Self.simulated {
        let server = try simulator ?? Self.startSimulator()
        simulator = server
        polled.append(
          PolledFeed(
            name: Self.simulated, reference: try FeedReference(Self.url(of: server)),
            every: feed.every ?? every ?? .seconds(2)))
      } else {
        let reference = try reference(to: feed)
        polled.append(
          PolledFeed(
            name: reference.name, reference: reference,
            every: feed.every ?? every ?? .seconds(60)))
      }
    }
    try refuseNamesakes(polled)
    // So will a wrong address of the database not; one that was there once is waited for.
    let connection = try IngestCommand.connect(to: database, migrates: migrates)
    if importing.isDryRun {
      try Migrator.checkSchema(of: connection)
    } else {
      try database.prepareForWorker(connection, feeds: polled, diagnostics)
    }
    let service = ServiceManager(
      socket: Environment.value("NOTIFY_SOCKET"), watchdog: Environment.value("WATCHDOG_USEC"),
      watched: Environment.value("WATCHDOG_PID"))
    service.ready("connected; feeds: " + polled.map(\.name).joined(separator: ", "))
    defer { service.stopping() }
    let worker = Worker(
      database: database, connection: connection, diagnostics: diagnostics, settings: settings,
      importing: importing, judging: judging, feeds: polled, service: service,
      history: keptHistory.map { HistoryPurger(keeping: $0, diagnostics: diagnostics) }
    )
    let status = runsOnce ? worker.pollOnce() : try worker.run()
    diagnostics.note("stopped")
    return status
  }

  /// What a feed's name means. An error says where the name stands, if that is in a file.
  private func reference(to feed: NamedFeed) throws(FeedError) -> FeedReference {
    do throws(FeedError) {
      let reference = try FeedReference(feed.feed.text, secrets: feed.feed.secrets)
      if case .file(let path) = reference.location,
        [.pipe, .special].contains(FileSource.kind(of: path))
      {
        throw FeedError(
          .invalidReference, "cannot poll file \"\(path)\"",
          detail: "It is a named pipe, a socket or a device, which could keep its reader waiting.",
          hint: "\"quake-ingest import\" reads such files.")
      }
      return reference
    } catch {
      guard let place = arguments.place(of: feed.text, for: "feed") else { throw error }
      throw FeedError(
        error.code, "\(place): key 'feed': \(error.message)", detail: error.detail,
        hint: error.hint)
    }
  }

  /// The state of a feed is kept under its name.
  private func refuseNamesakes(_ feeds: [PolledFeed]) throws {
    var names: Set<String> = []
    for feed in feeds where !names.insert(feed.name).inserted {
      throw UsageError(
        "two feeds are called \"\(feed.name)\", the last part of their addresses",
        command: "quake-ingest run")
    }
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
