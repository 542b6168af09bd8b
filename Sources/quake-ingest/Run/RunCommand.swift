import CommandLine
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeSimulator
import QuakeTool
import QuakeWorker

/// `quake-ingest run`: reads its options and starts the worker.
struct RunCommand {
  static let table = Command(
    "run", purpose: "poll feeds and import each snapshot until stopped",
    discussion: """
      The worker respects a server's Cache-Control, Expires and Retry-After, and downloads a feed only \
      if it has changed. After a bad feed or a lost connection to the database it reports the error \
      and tries again. SIGTERM and SIGINT let it finish the import in progress.

      Several workers may run on one database, as the same role. One of them polls each feed; if it \
      ends, another takes over within seconds. The database stores when a feed is due, so a restart \
      does not change the schedule. "quake-admin refresh" makes the workers poll at once.
      """,
    options: [
      .value(
        "feed", "[NAME=]FEED[@DURATION]", repeatable: true,
        default: "all_hour@60s all_day@5m all_month@1h",
        completion: .found(
          stored: "feeds", or: FeedReference.knownNames + [simulated], files: true),
        help: """
          feed to poll, and its interval: the name of a USGS feed, such as all_hour or 2.5_week, a URL, \
          a file, or simulated, which needs no network; ${NAME}, ${file:PATH} and \
          ${credential:NAME} insert secrets into a URL; NAME= gives it a name of your own, as two queries of \
          one service need
          """),
      .value(
        "every", "DURATION",
        help:
          "interval of feeds that --feed names without one; default 60s, for simulated 2s"
      ),
      .flag("once", help: "poll each feed once and end"),
      .value(
        "keep-history", "AGE", default: "all of it",
        help: "purge history that is older, such as 90d; see quake-admin history purge"),
      .value(
        "expire", "AGE", default: "no event",
        help: """
          delete events whose origin time is older, such as 30d, so that feeds do not bring them back; \
          see quake-admin events expire
          """),
      .value(
        "refresh-interval", "DURATION", default: "10s",
        help: "least time between a poll and one that a refresh requests"),
      .value(
        "takeover-after", "DURATION", default: "30s",
        help: """
          time without a sign of life after which a standby takes over the feeds of a worker; must be \
          the same for all workers of a database
          """),
      .value(
        "keep-rejects", "AGE", default: "30d",
        help: "delete rejected records, with their reasons, when they are older"),
      .value(
        "metrics", "FILE", completion: .files,
        help: """
          write metrics of the worker itself to this file every ten seconds, for node_exporter's textfile collector; \
          each worker needs a file of its own; a file with other contents is not replaced; with --once, none are written
          """),
      .value(
        "keep-imports", "AGE", default: "90d",
        help:
          "delete the records of imports that are older, and whose changes the history no longer has"
      ),
      .value(
        "keep-edits", "AGE", default: "90d",
        help:
          "delete the records of batch edits that are older, and whose changes the history no longer has"
      ),
      .toggle("migrate", initially: true, help: "do not apply pending migrations first"),
      CommandConfiguration.option,
    ] + IngestCommand.importOptions(of: "run") + JudgingOptions.options + [
      JudgingOptions.confirmation
    ],
    examples: [
      .init(
        "quake-ingest run --feed all_hour@1m --feed all_month@1h", "poll two feeds"),
      .init(
        "quake-ingest run --feed 'strong=https://example.org/query?minmagnitude=5@5m'",
        "poll a query of an event service as feed strong"),
      .init("quake-ingest run --feed simulated", "try it without a network"),
    ],
    environment: DatabaseAccess.environment + CommandConfiguration.environment + service)

  private static let service: [Command.Variable] = [
    .init("NOTIFY_SOCKET, WATCHDOG_USEC, ...", "set by systemd; the worker reports its state to it")
  ]

  /// The name of the feed that this process simulates.
  static let simulated = "simulated"
  /// What is wrong with another name of it, or another feed of that name.
  static let nameOfSimulated = "the simulated feed, and no other, is called \(simulated)"

  /// The feeds that are polled by default. Events appear late and are revised for weeks, so the feed of the
  /// past hour alone would miss changes.
  private static let standardFeeds = ["all_hour@60s", "all_day@5m", "all_month@1h"]

  private static let shortestPause = Duration.milliseconds(1)

  private let arguments: ParsedArguments
  private let database: DatabaseAccess
  private let diagnostics: Diagnostics
  private let settings: WorkerSettings
  private let feeds: [NamedFeed]
  private let every: Duration?
  private let migrates: Bool
  private let chores: [Chore]
  private let metrics: WorkerMetrics?

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    var diagnostics = diagnostics
    diagnostics.form = .log
    self.diagnostics = diagnostics
    self.arguments = arguments
    settings = try WorkerSettings(arguments)
    let named = arguments.strings("feed")
    // As for a key of the file, the command line has precedence over the sections.
    let sections = arguments.isTyped("feed") ? [] : try FeedSections(arguments).feeds()
    let isStandard = named.isEmpty && sections.isEmpty
    feeds =
      try (isStandard ? Self.standardFeeds : named).map { try Self.feed($0, arguments) } + sections
    every = try arguments.duration("every", in: Self.shortestPause...)
    migrates = arguments.flag("migrate")
    var chores: [Chore] = []
    if let age = try arguments.age("expire", in: .seconds(1)...) {
      chores.append(.eventExpiry(age, author: settings.importing.author))
    }
    if let age = try arguments.age("keep-history", in: .seconds(1)...) {
      chores.append(.historyPurge(age))
    }
    let keptRejects = try arguments.age("keep-rejects", in: .seconds(1)...)
    chores.append(.rejectPurge(keptRejects ?? .seconds(30 * 86_400)))
    for (records, option) in [
      (Housekeeping.Records.imports, "keep-imports"), (.edits, "keep-edits"),
    ] {
      let age = try arguments.age(option, in: .seconds(1)...) ?? .seconds(90 * 86_400)
      chores.append(.recordPurge(records, age))
    }
    self.chores = chores + [.sizeNote, .pastNote]
    if feeds.contains(where: { $0.feed.text == "-" }), !settings.pollsOnce {
      throw arguments.usageError("standard input cannot be polled; use --once, or import")
    }
    // The file of a running worker stays as it is if somebody tries its configuration out.
    let path = arguments.string("metrics")
    if let path, let fault = WorkerMetrics.fault(of: path) {
      let place = arguments.place(of: path, for: "metrics").map { "\($0): key 'metrics'" }
      throw arguments.usageError("\(place ?? "option --metrics"): \(fault)")
    }
    metrics = settings.pollsOnce ? nil : path.map { WorkerMetrics(path: $0, diagnostics) }
    if every != nil, isStandard {
      throw arguments.usageError("option --every is for feeds that --feed names")
    }
    // The message omits the value, which may hold a password.
    if feeds.contains(where: { $0.every.map { $0 < Self.shortestPause } == true }) {
      throw arguments.usageError(
        "the interval after the @ in option --feed must be at least \(Self.shortestPause.text)")
    }
    database = try DatabaseAccess(arguments, diagnostics, creates: true, reconnects: true)
  }

  /// The feed that a value of `--feed` names.
  private static func feed(_ text: String, _ arguments: ParsedArguments) throws -> NamedFeed {
    let parts = FeedText(text)
    let feed = try arguments.secretText(text, template: parts.feed, option: "feed")
    let place = arguments.place(of: text, for: "feed").map { "\($0): key 'feed'" }
    if let name = parts.name {
      // A worker that asks itself for events stores them as simulated ones, under a name of their own.
      guard FeedText.isName(name), name != simulated else {
        // The message omits the value, which may hold a password.
        throw arguments.usageError(
          "\(place.map { "\($0): " } ?? "")invalid name before the = in option --feed: expected \(FeedText.form)"
            + (name == simulated ? ", but not \(simulated)" : ""))
      }
      guard feed.text != simulated else {
        throw arguments.usageError("\(place.map { "\($0): " } ?? "")\(nameOfSimulated)")
      }
    }
    return NamedFeed(text: text, name: parts.name, feed: feed, every: parts.every, place: place)
  }

  func run() throws -> ExitStatus {
    Signals.install()
    // Fail fast on a wrong name of a feed.
    let references = try feeds.map { feed in
      feed.name == nil && feed.feed.text == Self.simulated ? nil : try reference(to: feed)
    }
    try requireDistinctNames(
      of: zip(feeds, references).map { $0.name ?? $1?.name ?? Self.simulated })
    // Fail fast on a wrong address of the database. Only after a first connection does the worker wait for
    // it.
    let connection = try IngestCommand.connect(to: database, migrates: migrates)
    if !settings.importing.mixesSimulated { try checkSimulated(references, over: connection) }
    var simulator: SimulatedFeedServer?
    defer { simulator?.stop() }
    let service = ServiceManager()
    let context = PollContext(settings, service: service, diagnostics: diagnostics)
    var polled: [PolledFeed] = []
    for (feed, reference) in zip(feeds, references) {
      if let reference {
        polled.append(
          PolledFeed(
            name: feed.name ?? reference.name, reference: reference,
            every: feed.every ?? every ?? .seconds(60), settings: feed.settings,
            context: context))
      } else {
        let server = try Self.startSimulator(
          since: ImportList.first(of: Self.simulated, over: connection))
        simulator = server
        polled.append(
          PolledFeed(
            name: Self.simulated, reference: try FeedReference(Self.url(of: server)),
            every: feed.every ?? every ?? .seconds(2), settings: feed.settings, context: context))
      }
    }
    let isDryRun = settings.importing.isDryRun
    if !isDryRun {
      try database.prepareForWorker(connection, feeds: polled, diagnostics)
    }
    service.ready("connected; feeds: " + polled.map(\.name).joined(separator: ", "))
    defer { service.stopping() }
    let worker = Worker(
      database: database, connection: connection, context: context, feeds: polled,
      chores: Chores(isDryRun ? [] : chores, diagnostics: diagnostics), metrics: metrics)
    let status = settings.pollsOnce ? worker.pollOnce() : try worker.run()
    diagnostics.note("stopped")
    return status
  }

  /// Resolves a feed's name. An error states file and line if a configuration file holds the name.
  private func reference(to feed: NamedFeed) throws(FeedError) -> FeedReference {
    do throws(FeedError) {
      let reference = try FeedName.reference(feed.feed, others: [Self.simulated])
      if case .standardInput = reference.location { TerminalInput.announce("a feed", diagnostics) }
      if case .file(let path) = reference.location,
        [.pipe, .special].contains(FileSource.kind(of: path))
      {
        throw FeedError(
          .invalidReference, "cannot poll file \"\(path)\"",
          detail:
            "It is a named pipe, a socket or a device, and reading it could block the worker.",
          hint: "\"quake-ingest import\" reads such files.")
      }
      return reference
    } catch {
      guard let place = feed.place else { throw error }
      throw FeedError(
        error.code, "\(place): \(error.message)", detail: error.detail, hint: error.hint)
    }
  }

  /// Refuses the simulated feed if the store has real events, and warns if a real feed would add some to a store
  /// of simulated events.
  private func checkSimulated(
    _ references: [FeedReference?], over connection: Connection
  ) throws {
    let isReal = references.contains { $0 != nil }
    if references.contains(where: { $0 == nil }) {
      guard !isReal else {
        throw UsageError(
          "the simulated feed would mix its events with those of other feeds; --mix-simulated permits that",
          command: "quake-ingest run")
      }
      return try SimulatedEvents.refuse(besideOthersOver: connection)
    }
    guard try SimulatedEvents.exist(over: connection) else { return }
    diagnostics.warning(
      "the store also has simulated events, which never happened",
      hint: "\"quake-admin events delete --source simulated\" deletes them.")
  }

  /// Throws if two feeds share a name, under which the database stores a feed's state.
  private func requireDistinctNames(of feeds: [String]) throws {
    var names: Set<String> = []
    for name in feeds where !names.insert(name).inserted {
      throw UsageError(
        "two feeds are called \"\(name)\"; give each a name of its own, as in --feed NAME=URL",
        command: "quake-ingest run")
    }
  }

  /// A simulator that continues the catalogue that the database has.
  ///
  /// - Parameter first: When the database first imported from it; nil: never.
  private static func startSimulator(since first: Timestamp?) throws -> SimulatedFeedServer {
    var options = SimulatorOptions()
    options.events = 2_000
    options.rate = 15
    options.start = .shared(at: first ?? .now(), rate: options.rate)
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

struct WorkerSettings {
  let importing: ImportSettings
  let judging: JudgingOptions
  let pollsOnce: Bool
  /// The least time between a poll and a refresh.
  let refreshInterval: Duration
  /// The time without a sign of life after which a standby takes over the feeds of a worker.
  let takeoverAfter: Duration

  init(_ arguments: ParsedArguments) throws {
    importing = try ImportSettings(arguments)
    judging = try JudgingOptions(arguments, refusesOlder: true)
    pollsOnce = arguments.flag("once")
    refreshInterval = try arguments.duration("refresh-interval", in: .zero...) ?? .seconds(10)
    takeoverAfter =
      try arguments.duration("takeover-after", in: .milliseconds(100)...) ?? .seconds(30)
  }

  /// The time between two signs of life of this worker.
  var lifeSign: Duration { min(takeoverAfter / 4, .seconds(5)) }
}
