import Basics
import CommandLine
import Postgres
import QuakeFeed
import QuakeModel
import QuakeTool
import QuakeWorker

/// `quake-ingest backfill`: imports past events from an event service or from files.
struct BackfillCommand {
  static let table = Command(
    "backfill", purpose: "fetch the past from an event service, or from a folder of files",
    discussion: """
      This command fetches a span of origin times from an FDSN event service, in windows that hold no \
      more events than the service sends in one answer. Each window is one transaction, together with \
      the mark that it is done. If the backfill is stopped or killed, the same command continues it and \
      fetches nothing twice. (A relative time such as 7d differs in each run, so each run is a new backfill.) \
      After each failure the pauses before the next attempt grow.

      With PATH, it imports the files of a folder (any format that import reads; plain, gzip or Zstandard), \
      each once: it does not read a file again while size and time of modification are the same.
      """,
    options: [
      .value(
        "from", "TIME", help: "fetch events from this origin time on, such as 2020-01-01; in UTC"),
      .value("to", "TIME", help: "fetch events before this origin time"),
      .value("last", "DURATION", help: "fetch the events of the last DURATION, such as 7d"),
      .value("min-magnitude", "M", help: "fetch only events of this magnitude or more"),
    ] + FilterOptions.regions + [
      .value(
        "url", "BASE", default: EventService.usgsBaseURL,
        help: "base URL of the event service, including its version"
      ),
      IngestCommand.sourceOption,
      .value(
        "limit", "N", default: "20000",
        help: "the largest number of events that the service sends in one answer"),
      .value(
        "rate", "N", default: "1",
        help: "most requests a second; a service needs longer than a second for a full window"),
      .value(
        "attempts", "N", default: "10",
        help: "stop after N failures in a row of one window"),
      .flag("restart", help: "start anew instead of continuing an unfinished backfill"),
      .flag(
        "json", help: "one JSON object for each window or file, and one for the whole backfill"),
    ] + IngestCommand.importOptions(of: "backfill").filter { usable.contains($0.name) },
    positionals: [
      .init("PATH", .any, completion: .files, help: "folder or file to import instead of a service")
    ],
    examples: [
      .init("quake-ingest backfill --from 2020-01-01 --to 2021-01-01", "USGS's catalogue of 2020"),
      .init(
        "quake-ingest backfill --from 2024-01-01 --to 2024-02-01 --url $BASE",
        "another data centre, such as https://webservices.ingv.it/fdsnws/event/1"),
      .init(
        "quake-ingest backfill --last 7d --within 300:35.7,-117.6", "a week around Ridgecrest"),
      .init("quake-ingest backfill archive/", "all files in a folder"),
    ],
    environment: DatabaseAccess.environment)

  /// Options that `import` and `run` have, too. A window is one transaction, and there is no dry run.
  private static let usable = [
    "author", "merge", "timeout", "download-timeout", "max-body", "total-timeout",
    "allow-any-redirect", "strict", "mix-simulated",
  ]
  private static let serviceOptions = [
    "from", "to", "last", "min-magnitude", "bbox", "within", "url", "limit", "rate", "attempts",
  ]

  /// What to fetch from an event service, and how.
  struct Fetch {
    var service: EventService
    var parameters: Backfill.Parameters
    let region: EventService.Region
    let manners: ServiceBackfill.Manners
  }

  private let database: DatabaseAccess
  private let diagnostics: Diagnostics
  private let settings: ImportSettings
  private let paths: [String]
  private let fetch: Fetch?
  private let restarts: Bool
  private let writesJSON: Bool

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    var diagnostics = diagnostics
    if !Terminal.isTerminal(diagnostics.descriptor) { diagnostics.form = .log }
    self.diagnostics = diagnostics
    settings = try ImportSettings(arguments)
    restarts = arguments.flag("restart")
    writesJSON = arguments.flag("json")
    paths = arguments.positionals
    if paths.isEmpty {
      fetch = try Self.fetch(arguments, settings)
    } else {
      if let option = Self.serviceOptions.first(where: { arguments.isGiven($0) }) {
        throw arguments.usageError("option --\(option) is for an event service, not for files")
      }
      fetch = nil
    }
    database = try DatabaseAccess(arguments, diagnostics, creates: true)
  }

  private static func fetch(
    _ arguments: ParsedArguments, _ settings: ImportSettings
  ) throws -> Fetch {
    let span = try span(arguments)
    let filter = try FilterOptions.region(arguments)
    let region = EventService.Region(box: filter.boundingBox, circle: filter.circle)
    let base = arguments.string("url") ?? EventService.usgsBaseURL
    let address = try arguments.secretText(base, option: "url")
    let service = try EventService(
      base: address.text, centre: settings.centre, secrets: address.secrets)
    return Fetch(
      service: service,
      parameters: Backfill.Parameters(
        url: service.description, source: service.centre.name, span: span,
        minimumMagnitude: try arguments.double("min-magnitude", in: -10...12),
        region: region.options),
      region: region,
      manners: ServiceBackfill.Manners(
        limit: Int64(try arguments.integer("limit", in: 1...1_000_000) ?? 20_000),
        rate: try arguments.double("rate", in: 0.001...1000) ?? 1,
        attempts: try arguments.integer("attempts", in: 1...1000) ?? 10))
  }

  /// The span of origin times that the options name.
  private static func span(_ arguments: ParsedArguments) throws -> BackfillWindow {
    try arguments.requireAtMostOne(of: "last", "from")
    try arguments.requireAtMostOne(of: "last", "to")
    if let last = try arguments.age("last", in: .seconds(1)...) {
      let now = Timestamp.now()
      let from = Timestamp(microseconds: now.microseconds - last.wholeMicroseconds)
      guard let span = BackfillWindow(from: from, to: now) else {
        throw arguments.invalidValue(
          arguments.string("last") ?? "", for: "last", expected: "a shorter duration")
      }
      return span
    }
    guard let from = try arguments.time("from"), let to = try arguments.time("to") else {
      throw arguments.usageError(
        "options --from and --to, or --last, are needed, or the path of a folder")
    }
    guard to <= .now() else {
      throw arguments.invalidValue(
        arguments.string("to") ?? "", for: "to", expected: "a time that has passed")
    }
    guard let span = BackfillWindow(from: from, to: to) else {
      throw arguments.usageError("--from must be before --to")
    }
    return span
  }

  func run() throws -> ExitStatus {
    Signals.install()
    let folders = try paths.map { path throws(FeedError) in try FeedFolder.absolute(path) }
    let connection = try IngestCommand.connect(to: database)
    if let fetch = try fetch.map({ try resolve($0, over: connection) }) {
      let backfill = try Backfill.open(fetch.parameters, restart: restarts, over: connection)
      try ServiceBackfill(
        fetch, backfill, connection: connection, settings: settings,
        output: output("events", "record"),
        diagnostics: diagnostics
      ).run()
      return .ok
    }
    var status = ExitStatus.ok
    for folder in folders where !Signals.stopRequested {
      let parameters = Backfill.Parameters(url: folder, source: settings.centre?.name)
      let backfill = FolderBackfill(
        path: folder,
        backfill: try Backfill.open(parameters, restart: restarts, over: connection),
        connection: connection, settings: settings, output: output("files", "file"),
        diagnostics: diagnostics)
      let result = try backfill.run()
      if status == .ok { status = result }
    }
    return status
  }

  /// Asks an unknown service of what kind it is, unless an earlier run has done so.
  private func resolve(_ fetch: Fetch, over connection: Connection) throws -> Fetch {
    guard !fetch.service.isCentreKnown, let span = fetch.parameters.span else { return fetch }
    var fetch = fetch
    let before =
      restarts ? nil : try Backfill.source(ofUnfinished: fetch.parameters, over: connection)
    if let before {
      guard let centre = DataCentre(name: before) else { return fetch }
      fetch.service = fetch.service.of(centre)
    } else {
      let probe = ServiceProbe(
        fetcher: FeedFetcher(settings),
        attempts: fetch.manners.attempts, diagnostics: diagnostics)
      // Without the region, so that the service has an event to show.
      let query = EventService.Query(
        from: span.start, to: span.end, minimumMagnitude: fetch.parameters.minimumMagnitude)
      guard let centre = try probe.centre(of: fetch.service, query) else { return fetch }
      diagnostics.verbose("\(fetch.service) answers as USGS's service does")
      fetch.service = fetch.service.of(centre)
    }
    fetch.parameters.source = fetch.service.centre.name
    return fetch
  }

  private func output(_ unit: String, _ noun: StaticString) -> BackfillOutput {
    BackfillOutput(writesJSON: writesJSON, unit: unit, noun: noun, diagnostics: diagnostics)
  }
}

struct BackfillFailure: ExplainedError {
  let category: ErrorCategory
  let message: String
  let detail: String?
  let hint: String?

  init(_ category: ErrorCategory, _ message: String, detail: String? = nil, hint: String) {
    self.category = category
    self.message = message
    self.detail = detail
    self.hint = hint
  }
}

extension FeedError {
  /// Whether the same request may succeed later.
  var mayPass: Bool {
    switch code {
    case .network, .timeout, .truncatedTransfer, .truncated, .truncatedGzip, .corruptGzip,
      .truncatedZstd, .corruptZstd, .emptyBody, .html, .notAFeed, .invalidJSON, .invalidXML,
      .trailingData, .missingFeatures,
      .featuresNotArray:
      true
    // A cache that answers 304 to a request without a condition may do better later.
    case .httpStatus: [304, 408, 425, 429].contains(status) || (500...599).contains(status ?? 0)
    case .errorDocument: !isRefusal
    case .invalidReference, .unknownCentre, .unknownFeed, .fileNotFound, .unreadable,
      .unsupportedFormat, .refusedXML, .featureTooLarge, .nestingTooDeep, .metadataTooLarge,
      .csvHeader, .ambiguousIdentifiers, .tls,
      .tooManyRedirects, .refusedRedirect, .bodyTooLarge, .interrupted:
      false
    }
  }

  /// Whether a service refuses a query; one possible reason is that too many events match.
  var isRefusal: Bool {
    (code == .httpStatus || code == .errorDocument) && (status == 400 || status == 413)
  }
}

extension BackfillWindow {
  /// `2020-01-01T00:00:00Z to 2020-02-01T00:00:00Z`.
  var name: String {
    "\(start.description.prefix(19))Z to \(end.description.prefix(19))Z"
  }

  var firstSecond: BackfillWindow? {
    BackfillWindow(from: start, to: Timestamp(microseconds: start.microseconds + 1_000_000))
  }
}
