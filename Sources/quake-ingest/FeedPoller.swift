import CommandLine
import Postgres
import QuakeFeed
import QuakeStore
import QuakeTool

/// One poll of a feed: ask, import, and record what came of it for all workers and for those who asked.
struct FeedPoller {
  let fetcher: FeedFetcher
  let settings: ImportSettings
  let service: ServiceManager
  let diagnostics: Diagnostics

  /// Polls a feed. What is recorded of a snapshot is committed together with it.
  ///
  /// - Parameter state: What the database knows of it.
  /// - Returns: The schedule after this poll, and the pause until the next, as it is recorded.
  func poll(
    _ feed: PolledFeed, _ state: FeedState, over connection: Connection
  ) throws -> (schedule: FeedSchedule, pause: FeedSchedule.Pause) {
    let begun = MonotonicClock.now()
    let validators = FeedValidators(etag: state.etag, lastModified: state.lastModified)
    var schedule = feed.schedule
    switch try OpenFeed.open(
      feed.reference, fetcher: fetcher, validators: validators, strict: settings.isStrict)
    {
    case .notModified(let response):
      diagnostics.verbose("\(feed.name): not modified", fields: ["feed": .text(feed.name)])
      let pause = schedule.succeeded(freshFor: response.maxAge)
      // What an answer without contents leaves out still holds.
      let kept = FeedValidators(
        etag: response.etag ?? state.etag,
        lastModified: response.validators.lastModified ?? state.lastModified)
      try connection.transaction {
        try record(feed, state, kept, of: nil, pause, connection)
      }
      return (schedule, pause)
    case .opened(var opened):
      var options = settings.importOptions(for: feed.reference, program: diagnostics.tool)
      options.feed = feed.name
      opened.describe(in: &options)
      let pause = schedule.succeeded(freshFor: opened.response?.maxAge)
      let validators = opened.response?.validators
      let report = try Importer(connection: connection, options: options).run(
        from: &opened.source, shouldStop: { Signals.stopRequested },
        progress: { _ in service.alive() },
        completing: { try record(feed, state, validators, of: $0, pause, connection) })
      let summary = ImportSummary(
        options: options, format: opened.source.format, report: report,
        elapsed: MonotonicClock.now() - begun)
      if let rejects = summary.rejects {
        diagnostics.warning(rejects.message, hint: rejects.hint, fields: summary.rejectFields)
      }
      diagnostics.note(summary.text, fields: summary.fields)
      service.status(summary.text)
      return (schedule, pause)
    }
  }

  private func record(
    _ feed: PolledFeed, _ state: FeedState, _ validators: FeedValidators?, of report: ImportReport?,
    _ pause: FeedSchedule.Pause, _ connection: Connection
  ) throws {
    guard !settings.isDryRun else { return }
    try FeedState.recordSuccess(
      feed.name, url: feed.url, etag: validators?.etag, lastModified: validators?.lastModified,
      generated: report?.generated, importID: report?.id, times: times(feed, pause),
      over: connection)
    try RefreshQueue.answer(
      feed.name, before: state.readAt,
      RefreshQueue.Answer(report == nil ? .notModified : .imported, report: report),
      over: connection)
  }

  /// Records that a poll failed, which nothing else has.
  func recordFailure(
    _ failure: Failure, of feed: PolledFeed, _ state: FeedState, _ pause: FeedSchedule.Pause,
    over connection: Connection
  ) throws {
    guard !settings.isDryRun else { return }
    let error = failure.message + (failure.detail.map { ": \($0)" } ?? "")
    try connection.transaction {
      try FeedState.recordFailure(
        feed.name, url: feed.url, error: error, times: times(feed, pause), over: connection)
      try RefreshQueue.answer(
        feed.name, before: state.readAt,
        RefreshQueue.Answer(Self.outcome(of: failure), error: error), over: connection)
    }
  }

  /// Answers those who have asked for a poll of a feed whose server wants to be left alone.
  func refuse(_ feed: PolledFeed, _ state: FeedState, over connection: Connection) throws {
    let error =
      "the feed's server asked to be left alone for another "
      + Readable.duration(state.retryIn)
    try RefreshQueue.answer(
      feed.name, before: state.readAt, RefreshQueue.Answer(.unavailable, error: error),
      over: connection)
  }

  private func times(_ feed: PolledFeed, _ pause: FeedSchedule.Pause) -> FeedState.Times {
    FeedState.Times(every: feed.schedule.every, next: pause.length, asked: pause.asked)
  }

  private static func outcome(of failure: Failure) -> RefreshOutcome {
    switch failure.status {
    case .badData: .badData
    case .unavailable: .unavailable
    default: .failed
    }
  }
}
