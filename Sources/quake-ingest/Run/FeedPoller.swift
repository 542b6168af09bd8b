import CommandLine
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeTool
import QuakeWorker

/// One poll of a feed: fetches and imports a snapshot, and records the result for all workers and for the
/// requests of a refresh.
struct FeedPoller {
  let settings: ImportSettings
  let judging: JudgingOptions
  let service: ServiceManager
  let diagnostics: Diagnostics
  /// Called at intervals while records are decoded.
  let progress: () -> Void

  /// The result of a poll that the server has answered.
  struct Outcome {
    /// The schedule after it.
    var schedule: FeedSchedule
    /// The pause until the next poll, as it is recorded.
    var pause: FeedSchedule.Pause
    /// `ok`, or the status of the failure.
    var status = ExitStatus.ok
    /// The events that the feed lacks, to be queried one by one; nil: none.
    var check: WithdrawalCheck?
  }

  /// The validators of the snapshot that the database knows.
  static func validators(_ state: FeedState) -> FeedValidators {
    FeedValidators(etag: state.etag, lastModified: state.lastModified)
  }

  /// Imports the result of a poll. The state of the feed is committed together with the snapshot.
  ///
  /// - Parameters:
  ///   - state: The state of the feed when the poll began.
  ///   - download: The download, if the feed is at a URL; else nil.
  func take(
    _ feed: PolledFeed, _ state: FeedState, _ download: FeedDownload?, over connection: Connection
  ) throws -> Outcome {
    var schedule = feed.schedule
    var pause: FeedSchedule.Pause?
    var options = settings.importOptions(for: feed.reference, program: diagnostics.tool)
    options.feed = feed.name
    judging.complete(&options, scope: feed.reference.scope)
    // An empty snapshot of the simulator lacks simulated events, and no others.
    if feed.name == RunCommand.simulated { options.scope?.source = RunCommand.simulated }
    let snapshot = JudgedFeedImport(
      connection: connection, isStrict: settings.isStrict, progress: progress)
    let way: FeedAccess =
      feed.reference.location == .standardInput ? .stream(FeedFetcher(settings)) : .ready(download)
    let outcome = try snapshot.run(feed.reference, over: way, options: options) {
      report, response in
      // A bad snapshot is no failure of the server, so the next poll is at the usual time.
      let next = schedule.succeeded(freshFor: response?.maxAge)
      pause = next
      try record(feed, state, response?.validators, of: report, next, connection)
    }
    switch outcome {
    case .notModified(let response):
      diagnostics.verbose("\(feed.name): not modified", fields: ["feed": .text(feed.name)])
      let pause = schedule.succeeded(freshFor: response.maxAge)
      // An answer "not modified" may omit validators; those known before remain valid.
      let kept = FeedValidators(
        etag: response.etag ?? state.etag,
        lastModified: response.validators.lastModified ?? state.lastModified)
      try connection.transaction {
        try record(feed, state, kept, of: nil, pause, connection)
      }
      return Outcome(schedule: schedule, pause: pause)
    case .imported(let summary, let response):
      tell(summary)
      var check: WithdrawalCheck?
      if let times = judging.confirmedAfter, let scope = summary.options.scope, !settings.isDryRun {
        check = try WithdrawalCheck(
          feed, scope: scope, times: times, reach: response?.reach ?? .everywhere,
          author: settings.author, diagnostics: diagnostics, over: connection)
      }
      return Outcome(
        schedule: schedule, pause: pause ?? schedule.succeeded(freshFor: response?.maxAge),
        status: summary.report.quarantine == nil ? .ok : .badData, check: check)
    }
  }

  private func tell(_ summary: ImportSummary) {
    if let rejects = summary.rejects {
      diagnostics.warning(rejects.message, hint: rejects.hint, fields: summary.rejectFields)
    }
    if let failure = summary.quarantine {
      let message = "could not import \(summary.options.feed): \(failure.message)"
      diagnostics.warning(
        message, detail: failure.detail, hint: failure.hint, fields: summary.fields)
      service.status(message)
    } else {
      diagnostics.note(summary.text, fields: summary.fields)
      service.status(summary.text)
    }
  }

  private func record(
    _ feed: PolledFeed, _ state: FeedState, _ validators: FeedValidators?, of report: ImportReport?,
    _ pause: FeedSchedule.Pause, _ connection: Connection
  ) throws {
    guard !settings.isDryRun else { return }
    if let verdict = report?.quarantine {
      let failure = Failure(
        .badData, "quarantined as \(verdict.reason.rawValue)", detail: verdict.detail)
      try write(failure, of: feed, state, pause, report, over: connection)
      return
    }
    try FeedState.recordSuccess(
      feed.name, url: feed.url, etag: validators?.etag, lastModified: validators?.lastModified,
      generated: report?.generated, importID: report?.id, times: times(feed, pause),
      resetAt: state.resetAt, over: connection)
    try RefreshQueue.answer(
      feed.name, before: state.readAt,
      RefreshQueue.Answer(report == nil ? .notModified : .imported, report: report),
      over: connection)
  }

  /// Records a failed poll that no import has recorded.
  func recordFailure(
    _ failure: Failure, of feed: PolledFeed, _ state: FeedState, _ pause: FeedSchedule.Pause,
    over connection: Connection
  ) throws {
    guard !settings.isDryRun else { return }
    try connection.transaction {
      try write(failure, of: feed, state, pause, nil, over: connection)
    }
  }

  private func write(
    _ failure: Failure, of feed: PolledFeed, _ state: FeedState, _ pause: FeedSchedule.Pause,
    _ report: ImportReport?, over connection: Connection
  ) throws {
    let error = failure.message + (failure.detail.map { ": \($0)" } ?? "")
    try FeedState.recordFailure(
      feed.name, url: feed.url, error: error, times: times(feed, pause), over: connection)
    try RefreshQueue.answer(
      feed.name, before: state.readAt,
      RefreshQueue.Answer(Self.outcome(of: failure), report: report, error: error),
      over: connection)
  }

  /// Answers refresh requests for a feed that is paused, or whose server has set a Retry-After that has not
  /// passed.
  func refuse(_ feed: PolledFeed, _ state: FeedState, over connection: Connection) throws {
    let error =
      state.pause.map { "the feed is \($0.text)" }
      ?? "the feed's server accepts no request (Retry-After) for another "
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
