import Basics
import CommandLine
import Postgres
import QuakeFeed
import QuakeImport
import QuakeModel
import QuakeTool
import QuakeWorker

/// A feed that a worker polls, or for which it is the standby. It knows when its next poll is due, imports what it
/// has polled, and records the result for all workers and for the requests of a refresh.
final class PolledFeed {
  private struct Poll {
    /// The state of the feed when the poll began. It stays valid, because only the holder of the feed's lock
    /// changes it.
    let state: FeedState
    /// The download of its snapshot; nil if the feed is not at a URL.
    let download: FeedDownload?
  }

  let name: String
  let reference: FeedReference
  private let own: FeedSettings
  private let context: PollContext
  private var schedule: FeedSchedule
  /// Whether this worker holds the feed's lock and polls it.
  private(set) var isHeld = false
  /// Who has paused it, and when; nil: it is not paused.
  private var pause: FeedPause?
  /// The poll whose snapshot is being downloaded, if any.
  private var poll: Poll?
  /// The events that its last snapshot lacks, to be queried one by one; nil if there are none left.
  private var check: WithdrawalCheck?
  /// When the next poll is due, on the monotonic clock.
  private(set) var due = Duration.zero
  /// When the time that its server set with Retry-After ends, on the monotonic clock.
  private var retryAt = Duration.zero
  /// When it was last polled, on the monotonic clock; nil: never.
  private var polledAt: Duration?
  /// Whether a refresh request waits for a poll.
  private var isRequested = false

  /// - Parameter own: What is set for this feed alone.
  init(
    name: String, reference: FeedReference, every: Duration, settings own: FeedSettings = .init(),
    context: PollContext
  ) {
    self.own = own
    self.name = name
    self.reference = reference
    self.context = context
    schedule = FeedSchedule(every: every)
  }

  /// The address, as messages show it.
  var url: String { reference.description }

  private var settings: ImportSettings { context.settings.importing }
  private var diagnostics: Diagnostics { context.diagnostics }

  // MARK: - When it is due

  /// Whether this worker has to do something for it: to poll it, or while it is paused, to answer requests.
  private var isActive: Bool { isHeld && (pause == nil || isRequested) }

  /// Whether its snapshot is being downloaded, or waits to be imported.
  var isPolling: Bool { poll != nil }

  /// Whether a poll or a check has begun and is not finished.
  var isBusy: Bool { poll != nil || check != nil }

  /// Whether its snapshot can be imported.
  var isDownloaded: Bool { poll?.download?.isFinished == true }

  /// When the next poll, or the answer to a request, is due, on the monotonic clock.
  private var next: Duration {
    guard pause == nil else { return .zero }
    guard isRequested else { return due }
    return min(due, polledAt.map { $0 + context.settings.refreshInterval } ?? .zero)
  }

  /// When the next poll begins, on the monotonic clock; nil: one is in progress, or none will begin.
  var nextPoll: Duration? { isActive && !isPolling ? next : nil }

  /// Whether there is something to do for it now.
  func isReady(at now: Duration) -> Bool {
    isActive && (isPolling ? isDownloaded : next <= now)
  }

  /// The order in which feeds that are ready have their turn. Downloads start first, because that takes no time
  /// and they run during imports. Of the completed downloads, the one that was due first is imported first.
  var turn: Duration { isPolling ? due : reference.isURL ? .zero : next }

  // MARK: - Its lock, pauses and requests

  /// Continues from the state that the database has of the feed, because this worker has got its lock: validators,
  /// failures, and when the next poll is due.
  func hold(over connection: Connection) throws {
    let state = settings.isDryRun ? FeedState() : try loadState(over: connection)
    let now = MonotonicClock.now()
    schedule = FeedSchedule(every: schedule.every, failures: state.failures)
    due = now + state.dueIn
    retryAt = now + state.retryIn
    polledAt = state.polledAgo.map { now - $0 }
    isHeld = true
    isRequested = false
    pause = state.pause
    if let pause, !context.settings.pollsOnce { log(pause) }
  }

  /// Cancels the poll in progress, because another worker may poll the feed by now.
  func release() {
    cancel()
    isHeld = false
  }

  /// Pauses or resumes it. A pause cancels the poll in progress, unless it is imported already.
  func setPause(_ pause: FeedPause?) {
    guard isHeld, self.pause != pause else { return }
    self.pause = pause
    if let pause {
      cancel()
      log(pause)
    } else {
      diagnostics.note("feed \(name) is resumed", fields: ["feed": .text(name)])
    }
  }

  /// Makes it due as soon as a refresh may poll it.
  func requestPoll() { isRequested = true }

  private func cancel() {
    if let download = poll?.download { context.downloads.cancel(download) }
    check?.cancel(context.downloads)
    poll = nil
    check = nil
  }

  private func log(_ pause: FeedPause) {
    diagnostics.note(
      "feed \(name) is \(pause.text); \"quake-admin feeds resume \(name)\" resumes it",
      fields: ["feed": .text(name)])
  }

  // MARK: - Polling

  /// Does what is due: imports what was downloaded, begins a poll, or answers requests that no poll can answer,
  /// because of a pause or of a Retry-After of its server.
  ///
  /// - Returns: The result of a poll that has ended.
  /// - Throws: `PostgresError` if the connection is lost. That is no failure of the feed: the worker that
  ///   holds it after the database is available again polls it at once.
  func advance(over connection: Connection) throws -> ExitStatus? {
    if let poll {
      self.poll = nil
      return try importSnapshot(of: poll, over: connection)
    }
    guard pause != nil || retryAt > MonotonicClock.now() else {
      return try beginPoll(over: connection)
    }
    let state = try loadState(over: connection)
    let error =
      state.pause.map { "the feed is \($0.text)" }
      ?? "the feed's server accepts no request (Retry-After) for another "
      + Readable.duration(state.retryIn)
    try answer(.init(.unavailable, error: error), before: state, over: connection)
    isRequested = false
    return nil
  }

  /// Begins a poll: starts the download of a URL, or imports a file.
  ///
  /// - Returns: The result; nil if a download has begun.
  func beginPoll(over connection: Connection) throws -> ExitStatus? {
    let state = try loadState(over: connection)
    if let pause = state.pause {
      guard context.settings.pollsOnce else {
        // It was paused since the last query for pauses.
        setPause(pause)
        return .ok
      }
      diagnostics.error(
        "feed \"\(name)\" is \(pause.text)",
        hint: "\"quake-admin feeds resume \(name)\" resumes it.", fields: ["feed": .text(name)])
      return .tryLater
    }
    if isRequested { try RefreshQueue.begin(name, at: state.readAt, over: connection) }
    guard case .url(let url) = reference.location else {
      return try importSnapshot(of: Poll(state: state, download: nil), over: connection)
    }
    do throws(FeedError) {
      let validators = FeedValidators(etag: state.etag, lastModified: state.lastModified)
      poll = Poll(
        state: state,
        download: try context.downloads.start(
          url, validators: validators, options: own.clientOptions(settings.clientOptions)))
      return nil
    } catch {
      return try fail(error, state, over: connection)
    }
  }

  private func importSnapshot(of poll: Poll, over connection: Connection) throws -> ExitStatus {
    do {
      return try judgeAndImport(poll, over: connection)
    } catch let error as PostgresError where error.isConnectionLoss || error.kind == .interrupted {
      throw error
    } catch {
      return try fail(error, poll.state, movedTo: poll.download?.movedTo, over: connection)
    }
  }

  /// The state of the feed is committed together with the snapshot.
  private func judgeAndImport(_ poll: Poll, over connection: Connection) throws -> ExitStatus {
    let state = poll.state
    var schedule = schedule
    var pause: FeedSchedule.Pause?
    var options = settings.importOptions(for: reference, program: diagnostics.tool)
    options.feed = name
    options.replacesUnchanged = true
    context.settings.judging.complete(&options, scope: reference.scope)
    // An empty snapshot of the simulator lacks simulated events, and no others.
    if name == RunCommand.simulated { options.scope?.source = RunCommand.simulated }
    var reading = settings.readerOptions(for: reference)
    reading.centre = own.centre
    reading.expectedRegion = own.region
    let snapshot = JudgedFeedImport(
      connection: connection, reading: reading, progress: context.showLife)
    let way: FeedAccess =
      reference.location == .standardInput ? .stream(FeedFetcher(settings)) : .ready(poll.download)
    let outcome = try snapshot.run(reference, over: way, options: options) { report, response in
      // A bad snapshot is no failure of the server, so the next poll is at the usual time.
      let next = schedule.succeeded(freshFor: response?.maxAge)
      pause = next
      var state = state
      state.movedTo = response?.newAddress
      try record(report, response?.validators, state, next, over: connection)
    }
    switch outcome {
    case .notModified(let response):
      var state = state
      logMove(to: response.newAddress, from: state)
      state.movedTo = response.newAddress
      diagnostics.verbose("\(name): not modified", fields: ["feed": .text(name)])
      let pause = schedule.succeeded(freshFor: response.maxAge)
      // An answer "not modified" may omit validators; those known before remain valid.
      let kept = FeedValidators(
        etag: response.validators.etag ?? state.etag,
        lastModified: response.validators.lastModified ?? state.lastModified)
      try connection.transaction { try record(nil, kept, state, pause, over: connection) }
      finish(schedule, pause)
      return .ok
    case .imported(let summary, let response):
      logMove(to: response?.newAddress, from: state)
      log(summary)
      if check == nil, let times = context.settings.judging.confirmedAfter,
        let scope = summary.options.scope, !settings.isDryRun
      {
        check = try WithdrawalCheck(
          of: Absences(connection: connection)
            .missing(from: scope.name, times: times, limit: WithdrawalCheck.limit),
          feed: self, reach: response?.reach ?? .everywhere, author: settings.author, diagnostics)
      }
      finish(schedule, pause ?? schedule.succeeded(freshFor: response?.maxAge))
      return summary.report.quarantine == nil ? .ok : .badData
    }
  }

  /// Sets the time of the next poll after a poll that succeeded or failed.
  private func finish(_ schedule: FeedSchedule, _ pause: FeedSchedule.Pause) {
    let now = MonotonicClock.now()
    self.schedule = schedule
    polledAt = now
    due = now + pause.length
    retryAt = schedule.failures > 0 ? now + (pause.asked ?? .zero) : .zero
    isRequested = false
  }

  /// - Parameter movedTo: Where its server redirects for good; nil: nowhere.
  private func fail(
    _ error: any Error, _ state: FeedState, movedTo: String? = nil, over connection: Connection
  ) throws -> ExitStatus {
    let failure = Failure(error) ?? Failure(.failed, "\(error)")
    guard failure.status != .ok else { return .ok }  // asked to stop while waiting for an answer
    logMove(to: movedTo, from: state)
    var state = state
    if let movedTo { state.movedTo = movedTo }
    let isLasting = (error as? FeedError)?.mayPass == false
    var schedule = schedule
    let pause = schedule.failed(retryAfter: (error as? FeedError)?.retryAfter)
    let message = "could not import \(name): \(failure.message)"
    diagnostics.warning(
      message, detail: failure.detail,
      hint: hint(after: failure, isLasting: isLasting || failure.status == .badData, pause.length),
      fields: [
        "feed": .text(name), "status": .integer(Int64(failure.status.rawValue)),
        "failures": .integer(Int64(schedule.failures)),
        "next_seconds": .number(pause.length.inSeconds),
      ])
    context.service.status(message + (failure.detail.map { ": \($0)" } ?? ""))
    finish(schedule, pause)
    guard !settings.isDryRun else { return failure.status }
    do {
      try connection.transaction {
        try record(
          failure, isLasting ? failure.hint : nil, nil, state, pause, over: connection)
      }
    } catch let error as PostgresError where !error.isConnectionLoss {
      diagnostics.verbose("could not record the failure of \(name): \(error)")
    }
    return failure.status
  }

  /// The hint after a failure: the failure's own, and the time of the next attempt.
  ///
  /// - Parameter isLasting: Whether the next attempt may well fail for the same reason.
  private func hint(after failure: Failure, isLasting: Bool, _ pause: Duration) -> String {
    let pollsOnce = context.settings.pollsOnce
    var hints: [String] = []
    if let hint = failure.hint, pollsOnce || isLasting { hints.append(hint) }
    if !pollsOnce { hints.append("Next attempt in \(Readable.duration(pause)).") }
    return hints.isEmpty ? "Try again later." : hints.joined(separator: " ")
  }

  /// Warns that the server redirects to another address, unless it is known from an earlier poll. Its query may be another
  /// each time, such as a time or a signature.
  private func logMove(to address: String?, from state: FeedState) {
    func place(_ address: String) -> Substring { address.prefix { $0 != "?" } }
    guard let address, place(address) != state.movedTo.map(place) else { return }
    diagnostics.warning(
      "the server of feed \(name) redirects to \(address)",
      hint: "Poll that address: name it in --feed or in the configuration file.",
      fields: ["feed": .text(name)])
  }

  private func log(_ summary: ImportSummary) {
    if let rejects = summary.rejects {
      diagnostics.warning(rejects.message, hint: rejects.hint, fields: summary.rejectFields)
    }
    if let failure = summary.quarantine {
      let message = "could not import \(name): \(failure.message)"
      diagnostics.warning(
        message, detail: failure.detail, hint: failure.hint, fields: summary.fields)
      context.service.status(message)
    } else {
      diagnostics.note(summary.text, fields: summary.fields)
      context.service.status(summary.text)
    }
  }

  /// Continues to query single events that a snapshot lacks.
  func continueCheck(over connection: Connection) throws {
    guard let check else { return }
    do {
      if try check.advance(context.downloads, over: connection) { self.check = nil }
    } catch let error as PostgresError where !error.isConnectionLoss {
      check.cancel(context.downloads)
      self.check = nil
      diagnostics.warning(
        "could not withdraw events that \(name) lacks: \(error.message)",
        hint: "The worker tries again after a later poll.")
    }
  }

  // MARK: - Its state in the database

  private func loadState(over connection: Connection) throws -> FeedState {
    try FeedState.load(name, url: url, every: schedule.every, over: connection)
  }

  /// Records a poll that the server has answered.
  ///
  /// - Parameter report: The import of its snapshot; nil: the feed was not modified.
  private func record(
    _ report: ImportReport?, _ validators: FeedValidators?, _ state: FeedState,
    _ pause: FeedSchedule.Pause, over connection: Connection
  ) throws {
    guard !settings.isDryRun else { return }
    if let verdict = report?.quarantine {
      let failure = Failure(
        .badData, "quarantined as \(verdict.reason.rawValue)", detail: verdict.detail)
      return try record(failure, nil, report, state, pause, over: connection)
    }
    var new = state
    new.etag = validators?.etag
    new.lastModified = validators?.lastModified
    try FeedState.recordSuccess(
      name, url: url, new, report: report, times: times(pause), over: connection)
    try answer(
      .init(report == nil ? .notModified : .imported, report: report), before: state,
      over: connection)
  }

  /// Records a poll that failed.
  ///
  /// - Parameters:
  ///   - advice: What to do about it, if waiting does not help.
  ///   - report: The import, if the snapshot is in quarantine.
  private func record(
    _ failure: Failure, _ advice: String?, _ report: ImportReport?, _ state: FeedState,
    _ pause: FeedSchedule.Pause, over connection: Connection
  ) throws {
    let error =
      failure.message + (failure.detail.map { ": \($0)" } ?? "") + (advice.map { " \($0)" } ?? "")
    try FeedState.recordFailure(
      name, url: url, error: error, movedTo: state.movedTo, times: times(pause), over: connection)
    let outcome: RefreshOutcome =
      switch failure.status {
      case .badData: .badData
      case .unavailable: .unavailable
      default: .failed
      }
    try answer(.init(outcome, report: report, error: error), before: state, over: connection)
  }

  /// Answers the refresh requests that arrived before `state` was read.
  private func answer(
    _ answer: RefreshQueue.Answer, before state: FeedState, over connection: Connection
  ) throws {
    try RefreshQueue.answer(name, before: state.readAt, answer, over: connection)
  }

  private func times(_ pause: FeedSchedule.Pause) -> FeedState.Times {
    FeedState.Times(every: schedule.every, next: pause.length, asked: pause.asked)
  }
}

/// What the polls of a worker's feeds share.
struct PollContext {
  let settings: WorkerSettings
  let service: ServiceManager
  let diagnostics: Diagnostics
  let downloads: FeedDownloads

  init(_ settings: WorkerSettings, service: ServiceManager, diagnostics: Diagnostics) {
    self.settings = settings
    self.service = service
    self.diagnostics = diagnostics
    downloads = FeedDownloads(
      options: settings.importing.clientOptions, in: TemporaryFolder.path)
  }

  /// Called at intervals during work that takes long.
  func showLife() {
    service.alive()
    downloads.advance()
  }
}
