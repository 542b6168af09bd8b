import Basics
import CommandLine
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeWorker

/// Fetches past events from an event service, window by window, each in one transaction that also marks the
/// window as done.
final class ServiceBackfill {
  /// Limits on the requests to the service.
  struct Manners {
    /// Events the service gives in one answer.
    var limit: Int64
    /// Requests a second at most.
    var rate: Double
    /// The number of failures of a window in a row after which the backfill stops.
    var attempts: Int
  }

  /// The service gave far fewer events than it counted.
  private struct ShortAnswer: Error, Equatable {
    let seen: Int64
    let count: Int64
  }

  private let service: EventService
  private let backfill: Backfill
  private let windows: BackfillWindows
  private let connection: Connection
  private let settings: ImportSettings
  private let region: EventService.Region
  private let manners: Manners
  private let diagnostics: Diagnostics
  private let output: BackfillOutput
  private let fetcher: FeedFetcher
  private var pacer: RequestPacer
  private var backoff = Backoff(first: .milliseconds(500), longest: .seconds(300))
  private var failures = 0
  /// Whether the service answers how many events match.
  private var counts = true
  /// Whether it has done so.
  private var hasCounted = false
  /// Whether it has answered a query. Then a refusal means that too many events match.
  private var answers = false
  /// Whether it accepts a limit on the number of events.
  private var acceptsLimit = true
  /// The most events in one answer, as far as known: a service may have a smaller limit than was asked for.
  private var limit: Int64
  /// The most events of an answer so far.
  private var longest: Int64 = 0
  /// The last answer, if it was short.
  private var shortAnswer: ShortAnswer?

  init(
    _ fetch: BackfillCommand.Fetch, _ backfill: Backfill, connection: Connection,
    settings: ImportSettings, output: BackfillOutput, diagnostics: Diagnostics
  ) {
    service = fetch.service
    region = fetch.region
    manners = fetch.manners
    limit = fetch.manners.limit
    self.backfill = backfill
    self.connection = connection
    self.settings = settings
    self.output = output
    self.diagnostics = diagnostics
    windows = BackfillWindows(of: backfill, over: connection)
    fetcher = FeedFetcher(settings)
    pacer = RequestPacer(rate: fetch.manners.rate)
  }

  /// Fetches the windows that are not done yet; ends early when a stop is requested.
  func run() throws {
    defer { output.stop() }
    let before = try windows.progress()
    if backfill.isResumed {
      diagnostics.note(
        """
        resuming backfill \(backfill.id): \(Readable.count(before.done, "window")) with \
        \(Readable.count(before.records, "record")) \(before.done == 1 ? "is" : "are") done
        """)
    }
    longest = before.longest
    output.begin(with: before.records)
    while !Signals.stopRequested, let window = try windows.next() {
      switch window.step(limit: limit, counts: counts) {
      case .count: try attempt(window) { try count(window) }
      case .cut: try cut(window)
      case .fetch: try attempt(window) { try fetch(window) }
      }
    }
    try backfill.finish(over: connection)
    let progress = try windows.progress()
    try output.end(backfill, try backfill.totals(over: connection)) { json in
      json.member("from", backfill.parameters.span?.start.description)
      json.member("to", backfill.parameters.span?.end.description)
      json.member("windows", progress.done)
    }
    if progress.pending > 0 {
      diagnostics.note("stopped; run the same command again to continue")
    }
  }

  // MARK: - Failures

  private func attempt(_ window: BackfillWindow, _ body: () throws -> Void) throws {
    pacer.wait()
    guard !Signals.stopRequested else { return }
    do {
      try body()
    } catch let error as FeedError where error.category == .interrupted {
      return
    } catch let error as FeedError where error.mayPass {
      try failed(window, error.detail ?? error.message, retryAfter: error.retryAfter)
    } catch let error as ShortAnswer {
      // The same number twice, and a round one, is a limit of the service that it does not state.
      if error == shortAnswer, BackfillWindow.isRound(error.seen), try windows.cut(window) {
        limit = min(limit, error.seen)
        diagnostics.note(
          "\(service) sends no more than \(Readable.count(error.seen, "event")) in one answer")
        return succeeded()
      }
      shortAnswer = error
      try failed(
        window,
        "The service sent \(Readable.count(error.seen, "event")), but counts \(error.count).")
      // It may be the count that is wrong.
      if failures > 1 { try windows.set(count: nil, of: window) }
    } catch let error as ImportRefusal where error.report != nil {
      try failed(window, error.message)
    } catch let error as PostgresError where error.sqlState == SQLState.deadlockDetected {
      // A deadlock: another session was writing the same events.
      try failed(window, error.message)
    }
  }

  private func failed(
    _ window: BackfillWindow, _ detail: String, retryAfter: Int? = nil
  ) throws {
    failures += 1
    guard failures < manners.attempts else {
      throw BackfillFailure(
        .unavailable,
        "stopped at the events from \(window.name) after \(failures) failures in a row",
        detail: detail,
        hint: "Stored events stay. Run the same command again later to continue from here.")
    }
    // A wrong header must not stop the backfill for long.
    let pause = max(backoff.next(), .seconds(min(retryAfter ?? 0, 86_400)))
    diagnostics.warning(
      "could not fetch the events from \(window.name)", detail: detail,
      hint: "Next attempt in \(Readable.duration(pause)).")
    RequestPacer.pause(pause)
  }

  /// Resets the failures after a window was stored or cut. A count is not enough: fetching its events may
  /// still fail.
  private func succeeded() {
    failures = 0
    shortAnswer = nil
    backoff.reset()
  }

  // MARK: - Steps

  private func query(_ window: BackfillWindow) -> EventService.Query {
    EventService.Query(
      from: window.start, to: window.end,
      minimumMagnitude: backfill.parameters.minimumMagnitude, region: region)
  }

  private func count(_ window: BackfillWindow) throws {
    guard let count = try askForCount(service.countURL(query(window))) else {
      diagnostics.verbose("\(service) does not count")
      counts = false
      return
    }
    hasCounted = true
    diagnostics.verbose("\(window.name): \(Readable.count(count, "event"))")
    try windows.set(count: count, of: window)
  }

  /// The number of events; nil if the service does not count.
  private func askForCount(_ url: FeedURL) throws(FeedError) -> Int64? {
    do throws(FeedError) {
      let response = try fetcher.open(url: url)
      if response.isEmpty { return hasCounted ? 0 : nil }
      return try EventService.count(in: response.body)
    } catch {
      guard [400, 404, 405, 501].contains(error.status) else { throw error }
      // A service that counts may have its own way to say that there is nothing.
      return hasCounted && error.saysNoData ? 0 : nil
    }
  }

  private func cut(_ window: BackfillWindow) throws {
    guard try !windows.cut(window) else { return succeeded() }
    throw BackfillFailure(
      .badData,
      "the window of one second from \(window.name) holds more events than one answer can have",
      hint: "Request only larger magnitudes, with --min-magnitude.")
  }

  private func fetch(_ window: BackfillWindow) throws {
    let begun = MonotonicClock.now()
    let reference = FeedReference(queryURL(window))
    guard let feed = try open(reference, window) else { return }
    var options = settings.importOptions(for: reference, program: diagnostics.tool)
    options.feed = "backfill"
    options.context = "backfill \(backfill.id)"
    options.describe(feed.response)
    let received = BackfillWindowSource<FeedImportSource>.Counter()
    var source = BackfillWindowSource(
      feed.source, window: window, region: region, counting: received)
    let report = try Importer(connection: connection, options: options).run(
      from: &source, progress: { self.output.update(part: $0) },
      beforeCommit: { report in
        let seen = received.records
        // Between the two requests, only few events are added or removed.
        if let count = window.count, seen < count - max(10, count / 10) {
          throw ShortAnswer(seen: seen, count: count)
        }
        try self.windows.complete(
          window, of: self.backfill, with: report, received: seen, limit: self.limit,
          longest: self.longest)
      })
    succeeded()
    let isWhole = window.isWhole(seen: received.records, limit: limit, longest: longest)
    if window.isDoubtful(seen: received.records, limit: limit, longest: longest) {
      diagnostics.warning(
        "the service may have cut off its answer to the window of one second from \(window.name): "
          + "\(received.records) events",
        hint: "If it has more, fetch the larger ones of this second with --min-magnitude.")
    }
    longest = max(longest, received.records)
    try log(window, report, isWhole: isWhole, elapsed: MonotonicClock.now() - begun)
  }

  /// The answer to a query, perhaps without events; nil if the service refuses it, so that other queries have to
  /// follow.
  private func open(_ reference: FeedReference, _ window: BackfillWindow) throws -> OpenFeed? {
    var mayAskAgain = true
    var reading = settings.readerOptions(for: reference)
    reading.centre = service.centre
    while true {
      do {
        let outcome = try OpenFeed.open(reference, over: .stream(fetcher), reading)
        guard case .opened(let feed) = outcome else { return nil }
        answers = true
        return feed
      } catch let error as FeedError {
        // A body without a byte may also be an accident, which a count would show.
        if error.code == .emptyBody, window.count == nil, mayAskAgain {
          mayAskAgain = false
          pacer.wait()
          continue
        }
        if try isNoData(error, window) {
          answers = true
          diagnostics.verbose("\(window.name): no data")
          return OpenFeed(source: FeedImportSource(nil), response: nil)
        }
        guard error.isRefusal else { throw error }
        try refused(window, error)
        return nil
      }
    }
  }

  /// Whether an answer that is no feed says that nothing matches: in words, or with a status or an empty body that
  /// may have other reasons, so that they are checked.
  private func isNoData(_ error: FeedError, _ window: BackfillWindow) throws -> Bool {
    if error.saysNoData { return true }
    guard window.count ?? 0 == 0 else { return false }
    switch error.code {
    case .emptyBody: return true
    case .httpStatus where error.status == 404:
      // A wrong address has no version either.
      pacer.wait()
      do throws(FeedError) {
        return try !fetcher.open(url: service.versionURL).isEmpty
      } catch {
        guard error.code == .httpStatus else { throw error }
        return false
      }
    default: return false
    }
  }

  private func queryURL(_ window: BackfillWindow) -> FeedURL {
    service.queryURL(query(window), limit: acceptsLimit ? manners.limit : nil)
  }

  /// Finds out why the service refuses a query. The first refusal may have any reason, so this asks for a
  /// window of one second, which holds few events. If the service refuses that, too, the number of events is
  /// not the reason, and the query is repeated without the limit, which not every service accepts.
  private func refused(_ window: BackfillWindow, _ error: FeedError) throws {
    if !answers, try !isAnswered(window.firstSecond) {
      guard acceptsLimit else { throw error }
      acceptsLimit = false
      guard try isAnswered(window.firstSecond) else { throw error }
      answers = true
      return diagnostics.verbose("\(service) accepts no limit")
    }
    answers = true
    diagnostics.verbose("\(window.name): refused, so it is halved")
    try cut(window)
  }

  private func isAnswered(_ window: BackfillWindow?) throws -> Bool {
    guard let window else { return false }
    pacer.wait()
    do throws(FeedError) {
      _ = try fetcher.open(url: queryURL(window))
      return true
    } catch {
      if try isNoData(error, window) { return true }
      guard error.isRefusal else { throw error }
      return false
    }
  }

  private func log(
    _ window: BackfillWindow, _ report: ImportReport, isWhole: Bool, elapsed: Duration
  ) throws {
    if let reject = report.firstReject {
      diagnostics.warning(
        "\(Readable.count(report.rejected, "record")) from \(window.name) rejected, the first: "
          + "\(reject.place): \(reject.reason)",
        hint: report.rejectsHint)
    }
    guard isWhole else {
      diagnostics.verbose(
        "\(window.name): \(Readable.count(report.seen, "event")) may not be all, so it is halved")
      return
    }
    let progress = try windows.progress()
    output.update(done: progress.records, of: progress.expected ?? estimate(progress))
    try output.part(window.name, report, elapsed: elapsed) { json in
      json.member("backfill", backfill.id)
      json.member("from", window.start)
      json.member("to", window.end)
    }
  }

  /// The number of events in all, if the rest of the span has as many a second as the finished windows. This
  /// is a rough estimate, for services that do not count.
  private func estimate(_ progress: BackfillWindows.Progress) -> Int64? {
    guard let span = backfill.parameters.span, progress.secondsDone > 0 else { return nil }
    return Int64(Double(progress.records) / Double(progress.secondsDone) * Double(span.seconds))
  }
}
