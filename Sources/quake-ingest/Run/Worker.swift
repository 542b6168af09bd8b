import Basics
import CommandLine
import Postgres
import QuakeFeed
import QuakeModel
import QuakeTool
import QuakeWorker

/// Polls the feeds that it holds, each when it is due or when a refresh is requested, and is the standby for
/// the others. Failures of a feed or of the database never end it.
///
/// A worker has one thread and one connection, whose session holds the locks of the feeds. Downloads run
/// concurrently, into files, while the thread waits. Completed downloads are imported one after the other.
final class Worker {
  private let database: DatabaseAccess
  private var connection: Connection?
  private let diagnostics: Diagnostics
  private let settings: WorkerSettings
  private let importing: ImportSettings
  private let judging: JudgingOptions
  private var feeds: [PolledFeed]
  private let service: ServiceManager
  private var chores: Chores
  private let downloads: FeedDownloads
  private var standby: Standby
  /// When the next sign of life is due. The query for refresh requests is one.
  private var lifeSign: PeriodicTimer
  /// Whether a notification of a refresh request may have arrived since the last query for requests.
  private var mayHaveRequests = true
  private var backoff = Backoff(first: .milliseconds(250), longest: .seconds(30))
  /// Whether each feed is polled only once.
  private var pollsOnce = false
  private lazy var poller = FeedPoller(
    settings: importing, judging: judging, service: service, diagnostics: diagnostics,
    progress: { [service, downloads] in
      service.alive()
      downloads.advance()
    })

  /// - Parameter connection: A connection that `prepareForWorker` has prepared.
  init(
    database: DatabaseAccess, connection: Connection, diagnostics: Diagnostics,
    settings: WorkerSettings, importing: ImportSettings, judging: JudgingOptions,
    feeds: [PolledFeed], service: ServiceManager, chores: Chores
  ) {
    self.database = database
    self.connection = connection
    self.diagnostics = diagnostics
    self.settings = settings
    self.feeds = feeds
    self.service = service
    self.chores = chores
    self.importing = importing
    self.judging = judging
    downloads = FeedDownloads(options: importing.clientOptions, in: TemporaryFolder.path)
    standby = Standby(takeoverAfter: settings.takeoverAfter, diagnostics: diagnostics)
    lifeSign = PeriodicTimer(settings.lifeSign)
  }

  /// Polls until a signal asks it to stop.
  ///
  /// - Throws: `StoreError` or `UnfitConnection` if, after a reconnection, the schema is not the one of this
  ///   program or the connection does not suit a worker: waiting would not help.
  func run() throws -> ExitStatus {
    while !Signals.stopRequested {
      service.alive()
      guard let connection else {
        try reconnect()
        continue
      }
      do {
        try takeFeeds(over: connection)
        try takeRequests(over: connection)
        try check(over: connection)
        downloads.advance()
        if let ready = nextReady() {
          if feeds[ready].polling == nil {
            try serve(ready, over: connection)
          } else {
            try take(ready, over: connection)
          }
        } else {
          try workOrWait(until: nextFeed().map { time(of: $0) }, over: connection)
        }
      } catch let error as PostgresError where error.kind == .interrupted {
        leave(error)
      } catch let error as PostgresError {
        lose(error)
      }
    }
    return .ok
  }

  /// Polls each feed once. Returns the status of the first failure.
  func pollOnce() -> ExitStatus {
    pollsOnce = true
    guard let connection else { return .unavailable }
    var results = [ExitStatus](repeating: .ok, count: feeds.count)
    do {
      try takeFeedsOnce(over: connection)
      for index in feeds.indices where !Signals.stopRequested {
        let result = feeds[index].isHeld ? try poll(index, over: connection) : refuse(feeds[index])
        if let result { results[index] = result }
      }
      while !Signals.stopRequested, feeds.contains(where: { $0.polling != nil || $0.check != nil })
      {
        try check(over: connection)
        downloads.advance()
        if let done = nextDownloaded() {
          results[done] = try take(done, over: connection)
        } else if !downloads.isEmpty {
          wait(for: lifeSign.remaining, over: connection)
          _ = try connection.takeNotifications()
          showLife()
        }
      }
      if !importing.isDryRun {
        try FeedState.end(feeds.filter(\.isHeld).map(\.name), over: connection)
      }
      return results.first { $0 != .ok } ?? .ok
    } catch let error as PostgresError where error.kind == .interrupted {
      leave(error)
      return Failure(error)?.status ?? .tryLater
    } catch {
      lose(error)
      return Failure(error)?.status ?? .failed
    }
  }

  private func refuse(_ feed: PolledFeed, _ pause: FeedPause) -> ExitStatus {
    diagnostics.error(
      "feed \"\(feed.name)\" is \(pause.text)",
      hint: "\"quake-admin feeds resume \(feed.name)\" resumes it.",
      fields: ["feed": .text(feed.name)])
    return .tryLater
  }

  private func refuse(_ feed: PolledFeed) -> ExitStatus {
    diagnostics.error(
      "feed \"\(feed.name)\" is polled by another worker",
      hint: "\"quake-admin refresh \(feed.name)\" makes that worker poll it now.",
      fields: ["feed": .text(feed.name)])
    return .tryLater
  }

  /// Reports that the worker was asked to stop while another session held a lock. The poll is rolled back,
  /// and the next worker of the feed repeats it.
  private func leave(_ error: PostgresError) {
    diagnostics.warning(error.message, detail: error.detail)
  }

  // MARK: - The connection

  private func reconnect() throws {
    do {
      let regained = try database.reconnect(wake: Signals.wakeDescriptor)
      if !importing.isDryRun { try database.prepareForWorker(regained, feeds: feeds, diagnostics) }
      connection = regained
      mayHaveRequests = true
      diagnostics.note("connected to the database again")
    } catch let error as StoreError {
      throw error
    } catch let error as UnfitConnection {
      throw error
    } catch {
      diagnostics.verbose("still no database: \(error)")
      _ = service.wait(timeout: backoff.next())
    }
  }

  /// Discards the connection, and with it the locks. Whether the connection was lost or the server refused a
  /// statement, the worker connects again after a pause.
  private func lose(_ error: any Error) {
    let problem = Failure(error)?.message ?? "\(error)"
    let isLoss = (error as? PostgresError)?.isConnectionLoss == true
    let message = isLoss ? "lost the database: \(problem)" : "could not continue: \(problem)"
    diagnostics.warning(
      message,
      hint:
        "The worker continues when the database is available again; nothing that is stored is lost."
    )
    service.status(message)
    connection = nil
    for index in feeds.indices { feeds[index].release(downloads) }
    standby.reset()
    _ = service.wait(timeout: backoff.next())
  }

  /// Executes an empty statement as a sign of life. Standbys consider a worker stalled if its server process
  /// has been idle for too long, so a worker that waits for something else calls this at intervals.
  private func showLife() {
    service.alive()
    guard let connection, connection.isIdle, lifeSign.fireIfDue() else { return }
    // If the connection is lost, its next use reports that.
    _ = try? connection.execute("select")
  }

  // MARK: - Choosing the next task

  private func takeFeeds(over connection: Connection) throws {
    let wanted = feeds.filter { !$0.isHeld }.map(\.name)
    try hold(importing.isDryRun ? wanted : standby.take(wanted, over: connection), over: connection)
  }

  /// Takes the locks of the feeds for a single poll. Waits briefly, because a worker that has just ended may
  /// still hold a lock.
  private func takeFeedsOnce(over connection: Connection) throws {
    let deadline = MonotonicClock.now() + .seconds(3)
    while true {
      let wanted = feeds.filter { !$0.isHeld }.map(\.name)
      try hold(
        importing.isDryRun ? wanted : standby.takeLocks(wanted, over: connection), over: connection)
      guard !feeds.allSatisfy(\.isHeld), !Signals.stopRequested, MonotonicClock.now() < deadline
      else { return }
      _ = Signals.wait(timeout: .milliseconds(100))
    }
  }

  private func hold(_ taken: [String], over connection: Connection) throws {
    guard !taken.isEmpty else { return }
    for index in feeds.indices where taken.contains(feeds[index].name) {
      // The state that the last worker stored: validators, failures, and when the next poll is due.
      feeds[index].take(
        importing.isDryRun ? FeedState() : try state(of: feeds[index], over: connection))
      if let pause = feeds[index].pause, !pollsOnce { tellOfPause(feeds[index].name, pause) }
    }
    if !importing.isDryRun { try FeedState.begin(taken, over: connection) }
    mayHaveRequests = true
  }

  private func takeRequests(over connection: Connection) throws {
    guard !importing.isDryRun, lifeSign.fireIfDue() || mayHaveRequests else { return }
    mayHaveRequests = false
    try takePauses(over: connection)
    // Requests that arrive during a poll are queried again after it.
    let held = feeds.filter { $0.isHeld && $0.polling == nil }.map(\.name)
    let wanted = try RefreshQueue.take(for: held, over: connection)
    for index in feeds.indices where wanted.contains(feeds[index].name) { feeds[index].want() }
  }

  /// Pauses and resumes feeds as the database has it, and registers those that were forgotten meanwhile: a
  /// lock is a part of the feed's row.
  private func takePauses(over connection: Connection) throws {
    let pauses = try FeedControl.pauses(of: feeds.map(\.name), over: connection)
    for index in feeds.indices {
      guard let pause = pauses[feeds[index].name] else {
        if !feeds[index].isHeld {
          try FeedState.register([(feeds[index].name, feeds[index].url)], over: connection)
        }
        continue
      }
      try set(pause, index)
    }
  }

  private func set(_ pause: FeedPause?, _ index: Int) throws {
    guard feeds[index].isHeld, feeds[index].pause != pause else { return }
    let name = feeds[index].name
    let wasPaused = feeds[index].pause != nil
    feeds[index].set(pause, downloads)
    if let pause {
      tellOfPause(name, pause)
    } else if wasPaused {
      diagnostics.note("feed \(name) is resumed", fields: ["feed": .text(name)])
    }
  }

  private func tellOfPause(_ name: String, _ pause: FeedPause) {
    diagnostics.note(
      "feed \(name) is \(pause.text); \"quake-admin feeds resume \(name)\" resumes it",
      fields: ["feed": .text(name)])
  }

  private func time(of index: Int) -> Duration {
    feeds[index].next(refreshInterval: settings.refreshInterval)
  }

  private func nextFeed() -> Int? {
    feeds.indices.filter { feeds[$0].isActive && feeds[$0].polling == nil }
      .min { time(of: $0) < time(of: $1) }
  }

  /// The feed to work on now, if any. Downloads start first, because that takes no time and they run during
  /// imports. Of the completed downloads, the one that was due first is imported first.
  private func nextReady() -> Int? {
    let now = MonotonicClock.now()
    func order(_ index: Int) -> Duration {
      guard feeds[index].polling == nil else { return feeds[index].due }
      return feeds[index].reference.isURL ? .zero : time(of: index)
    }
    return feeds.indices.filter { index in
      guard feeds[index].isActive else { return false }
      return feeds[index].polling.map(\.download.isFinished) ?? (time(of: index) <= now)
    }.min { order($0) < order($1) }
  }

  /// Of the feeds whose download is complete, the one that was due first.
  private func nextDownloaded() -> Int? {
    feeds.indices.filter { feeds[$0].polling?.download.isFinished == true }
      .min { feeds[$0].due < feeds[$1].due }
  }

  /// Runs the chores until a feed is due; then waits for a due time, a download, a request, a lock or a signal. A chore
  /// that is not finished when a feed is due continues after it.
  private func workOrWait(until due: Duration?, over connection: Connection) throws {
    let shouldStop = { [unowned self] in
      service.alive()
      downloads.advance()
      return Signals.stopRequested || due.map { MonotonicClock.now() >= $0 } == true
        || nextDownloaded() != nil
    }
    try chores.run(over: connection, shouldStop: shouldStop)
    var pauses = [lifeSign.remaining]
    if let due { pauses.append(max(.zero, due - MonotonicClock.now())) }
    if !feeds.allSatisfy(\.isHeld) { pauses.append(standby.remaining) }
    if let remaining = chores.remaining { pauses.append(remaining) }
    if let tick = service.remaining { pauses.append(tick) }
    // Notifications that arrived with the answer to a statement are already read, so poll(2) would not return
    // for them.
    guard try connection.takeNotifications().isEmpty else {
      mayHaveRequests = true
      return
    }
    let pause = pauses.min() ?? .zero
    if downloads.isEmpty {
      let deadline = Deadline(after: pause)
      switch connection.wait(until: deadline, wake: Signals.wakeDescriptor) {
      case .ready: mayHaveRequests = try !connection.takeNotifications().isEmpty || mayHaveRequests
      case .woken: Signals.drainWake()
      case .timedOut: break
      }
    } else if nextDownloaded() == nil {
      wait(for: pause, over: connection)
      mayHaveRequests = try !connection.takeNotifications().isEmpty || mayHaveRequests
    }
  }

  /// Waits for data from feed servers, for the database or for a signal.
  private func wait(for pause: Duration, over connection: Connection) {
    downloads.wait(
      milliseconds: Int(pause.pollTimeout),
      beside: [connection.descriptor, Signals.wakeDescriptor])
    Signals.drainWake()
  }

  // MARK: - Polling

  private func state(of feed: PolledFeed, over connection: Connection) throws -> FeedState {
    try FeedState.load(feed.name, url: feed.url, every: feed.schedule.every, over: connection)
  }

  private func serve(_ index: Int, over connection: Connection) throws {
    guard feeds[index].mustWait else {
      _ = try poll(index, over: connection)
      return
    }
    try poller.refuse(
      feeds[index], try state(of: feeds[index], over: connection), over: connection)
    feeds[index].answered()
  }

  /// Begins to poll a feed that this worker holds: starts the download of a URL, or imports a file.
  ///
  /// - Returns: The result; nil if a download has begun.
  private func poll(_ index: Int, over connection: Connection) throws -> ExitStatus? {
    let state = try state(of: feeds[index], over: connection)
    if let pause = state.pause {
      guard pollsOnce else {
        // It was paused since the last query for pauses.
        try set(pause, index)
        return .ok
      }
      return refuse(feeds[index], pause)
    }
    if feeds[index].isWanted {
      try RefreshQueue.begin(feeds[index].name, at: state.readAt, over: connection)
    }
    guard case .url(let url) = feeds[index].reference.location else {
      return try take(index, state, nil, over: connection)
    }
    do throws(FeedError) {
      let download = try downloads.start(url, validators: FeedPoller.validators(state))
      feeds[index].polling = FeedPolling(download: download, state: state)
      return nil
    } catch {
      return try fail(index, state, error, over: connection)
    }
  }

  /// Imports a completed download.
  @discardableResult
  private func take(_ index: Int, over connection: Connection) throws -> ExitStatus {
    guard let polling = feeds[index].polling else { return .ok }
    feeds[index].polling = nil
    // A request that arrived after the poll began needs another poll.
    mayHaveRequests = true
    return try take(index, polling.state, polling.download, over: connection)
  }

  /// Imports the result of a poll.
  ///
  /// - Throws: `PostgresError` if the connection is lost. That is no failure of the feed: the worker that
  ///   holds it after the database is available again polls it at once.
  private func take(
    _ index: Int, _ state: FeedState, _ download: FeedDownload?, over connection: Connection
  ) throws -> ExitStatus {
    do {
      let outcome = try poller.take(feeds[index], state, download, over: connection)
      feeds[index].polled(outcome.schedule, pause: outcome.pause)
      if feeds[index].check == nil { feeds[index].check = outcome.check }
      backoff.reset()
      return outcome.status
    } catch let error as PostgresError where error.isConnectionLoss || error.kind == .interrupted {
      throw error
    } catch {
      return try fail(index, state, error, over: connection)
    }
  }

  /// Continues to query single events that a snapshot lacks.
  private func check(over connection: Connection) throws {
    for index in feeds.indices {
      guard let check = feeds[index].check else { continue }
      do {
        if try check.advance(downloads, over: connection) { feeds[index].check = nil }
      } catch let error as PostgresError where !error.isConnectionLoss {
        check.cancel(downloads)
        feeds[index].check = nil
        diagnostics.warning(
          "could not withdraw events that \(feeds[index].name) lacks: \(error.message)",
          hint: "The worker tries again after a later poll.")
      }
    }
  }

  /// The hint after a feed's failure: the failure's own, and the time of the next attempt.
  private func hint(after failure: Failure, _ pause: Duration) -> String {
    var hints: [String] = []
    if let hint = failure.hint, pollsOnce || failure.status == .badData { hints.append(hint) }
    if !pollsOnce { hints.append("Next attempt in \(Readable.duration(pause)).") }
    return hints.isEmpty ? "Try again later." : hints.joined(separator: " ")
  }

  private func fail(
    _ index: Int, _ state: FeedState, _ error: any Error, over connection: Connection
  ) throws -> ExitStatus {
    let failure = Failure(error) ?? Failure(.failed, "\(error)")
    guard failure.status != .ok else { return .ok }  // asked to stop while waiting for an answer
    var schedule = feeds[index].schedule
    let pause = schedule.failed(retryAfter: (error as? FeedError)?.retryAfter)
    let message = "could not import \(feeds[index].name): \(failure.message)"
    diagnostics.warning(
      message, detail: failure.detail,
      hint: hint(after: failure, pause.length),
      fields: [
        "feed": .text(feeds[index].name), "status": .integer(Int64(failure.status.rawValue)),
        "failures": .integer(Int64(schedule.failures)),
        "next_seconds": .number(pause.length.inSeconds),
      ])
    service.status(message + (failure.detail.map { ": \($0)" } ?? ""))
    feeds[index].polled(schedule, pause: pause)
    do {
      try poller.recordFailure(failure, of: feeds[index], state, pause, over: connection)
    } catch let error as PostgresError where !error.isConnectionLoss {
      diagnostics.verbose("could not record the failure of \(feeds[index].name): \(error)")
    }
    return failure.status
  }
}
