import Basics
import CommandLine
import Postgres
import QuakeFeed
import QuakeHistory
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
  private let context: PollContext
  private let feeds: [PolledFeed]
  private var chores: Chores
  private var standby: Standby
  /// When the next sign of life is due. The query for refresh requests is one.
  private var lifeSign: PeriodicTimer
  /// Whether a notification of a refresh request may have arrived since the last query for requests.
  private var mayHaveRequests = true
  /// What it has seen of the history, to notice a primary that lacks a part of it.
  private var seen = SeenHistory()
  private var metrics: WorkerMetrics?
  private var backoff = Backoff(first: .milliseconds(250), longest: .seconds(30))

  private var diagnostics: Diagnostics { context.diagnostics }
  private var downloads: FeedDownloads { context.downloads }
  private var service: ServiceManager { context.service }
  private var isDryRun: Bool { context.settings.importing.isDryRun }

  /// - Parameter connection: A connection that `prepareForWorker` has prepared.
  init(
    database: DatabaseAccess, connection: Connection, context: PollContext, feeds: [PolledFeed],
    chores: Chores, metrics: WorkerMetrics? = nil
  ) {
    self.database = database
    self.connection = connection
    self.context = context
    self.feeds = feeds
    self.chores = chores
    self.metrics = metrics
    standby = Standby(
      takeoverAfter: context.settings.takeoverAfter, diagnostics: context.diagnostics)
    lifeSign = PeriodicTimer(context.settings.lifeSign)
  }

  /// Polls until a signal asks it to stop.
  ///
  /// - Throws: `StoreError` or `UnfitConnection` if, after a reconnection, the schema is not the one of this
  ///   program or the connection does not suit a worker: waiting would not help.
  func run() throws -> ExitStatus {
    while !Signals.stopRequested {
      service.alive()
      metrics?.writeIfDue(
        isConnected: connection != nil, feeds: feeds.count, held: feeds.count(where: \.isHeld))
      guard let connection else {
        try reconnect()
        continue
      }
      do {
        try acquireFeeds(over: connection)
        try acceptRequests(over: connection)
        try continueChecks(over: connection)
        downloads.advance()
        let now = MonotonicClock.now()
        if let ready = feeds.filter({ $0.isReady(at: now) }).min(by: { $0.turn < $1.turn }) {
          // A request that arrived after the poll began needs another poll.
          if ready.isPolling { mayHaveRequests = true }
          if let status = try ready.advance(over: connection) {
            if status == .ok { backoff.reset() }
            metrics?.count(status)
            try seen.advance(over: connection)
          }
        } else {
          try workOrWait(over: connection)
        }
      } catch let error as PostgresError where error.kind == .interrupted {
        reportInterruption(error)
      } catch let error as PostgresError {
        dropConnection(after: error)
      }
    }
    return .ok
  }

  /// Polls each feed once. Returns the status of the first failure.
  func pollOnce() -> ExitStatus {
    guard let connection else { return .unavailable }
    var results: [String: ExitStatus] = [:]
    do {
      try acquireFeedsOnce(over: connection)
      for feed in feeds where !Signals.stopRequested {
        results[feed.name] =
          feed.isHeld ? try feed.beginPoll(over: connection) : reportOtherWorker(of: feed)
      }
      while !Signals.stopRequested, feeds.contains(where: \.isBusy) {
        try continueChecks(over: connection)
        downloads.advance()
        if let done = nextDownloaded() {
          results[done.name] = try done.advance(over: connection)
        } else if !downloads.isEmpty {
          wait(for: lifeSign.remaining, over: connection)
          _ = try connection.takeNotifications()
          showLife()
        }
      }
      if !isDryRun { try FeedState.end(feeds.filter(\.isHeld).map(\.name), over: connection) }
      return feeds.lazy.compactMap { results[$0.name] }.first { $0 != .ok } ?? .ok
    } catch let error as PostgresError where error.kind == .interrupted {
      reportInterruption(error)
      return Failure(error)?.status ?? .tryLater
    } catch {
      dropConnection(after: error)
      return Failure(error)?.status ?? .failed
    }
  }

  private func reportOtherWorker(of feed: PolledFeed) -> ExitStatus {
    diagnostics.error(
      "feed \"\(feed.name)\" is polled by another worker",
      hint: "\"quake-admin refresh \(feed.name)\" makes that worker poll it now.",
      fields: ["feed": .text(feed.name)])
    return .tryLater
  }

  /// Reports that the worker was asked to stop while another session held a lock. The poll is rolled back,
  /// and the next worker of the feed repeats it.
  private func reportInterruption(_ error: PostgresError) {
    diagnostics.warning(error.message, detail: error.detail)
  }

  // MARK: - The connection

  private func reconnect() throws {
    do {
      let regained = try database.reconnect(wake: Signals.wakeDescriptor)
      if !isDryRun { try database.prepareForWorker(regained, feeds: feeds, diagnostics) }
      let loss = try seen.resume(over: regained)
      connection = regained
      diagnostics.note("connected to the database again: \(regained.label)")
      if let loss { report(loss, over: regained) }
      mayHaveRequests = true
    } catch let error as StoreError {
      throw error
    } catch let error as UnfitConnection {
      throw error
    } catch {
      diagnostics.verbose("still no database: \(error)")
      _ = service.wait(timeout: backoff.next())
    }
  }

  /// Reports that the server lacks a transaction that the worker has seen. The worker goes on: whatever happened, the
  /// feeds are to be polled.
  private func report(_ loss: StoreError, over connection: Connection) {
    let message = "\(connection.label) has lost transactions: \(loss.message)"
    diagnostics.error(
      message, detail: "The worker had seen that transaction. \(loss.detail ?? "")",
      hint: """
        Find out whether a failover or a restore lost it. The worker polls on, and the feeds bring back the events that \
        they still have; edits have to be made again. Readers with later tokens end with \
        "history diverged".
        """)
    service.status(message)
  }

  /// Discards the connection, and with it the locks. Whether the connection was lost or the server refused a
  /// statement, the worker connects again after a pause.
  private func dropConnection(after error: any Error) {
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
    for feed in feeds { feed.release() }
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

  // MARK: - Locks and requests

  private func acquireFeeds(over connection: Connection) throws {
    let free = feeds.filter { !$0.isHeld }.map(\.name)
    try hold(isDryRun ? free : standby.acquire(free, over: connection), over: connection)
  }

  /// Acquires the locks of the feeds for a single poll. Waits briefly, because a worker that has just ended may
  /// still hold a lock.
  private func acquireFeedsOnce(over connection: Connection) throws {
    let deadline = MonotonicClock.now() + .seconds(3)
    while true {
      let free = feeds.filter { !$0.isHeld }.map(\.name)
      try hold(isDryRun ? free : standby.acquireLocks(free, over: connection), over: connection)
      guard !feeds.allSatisfy(\.isHeld), !Signals.stopRequested, MonotonicClock.now() < deadline
      else { return }
      _ = Signals.wait(timeout: .milliseconds(100))
    }
  }

  private func hold(_ acquired: [String], over connection: Connection) throws {
    guard !acquired.isEmpty else { return }
    for feed in feeds where acquired.contains(feed.name) { try feed.hold(over: connection) }
    if !isDryRun { try FeedState.begin(acquired, over: connection) }
    mayHaveRequests = true
  }

  private func acceptRequests(over connection: Connection) throws {
    guard !isDryRun, lifeSign.fireIfDue() || mayHaveRequests else { return }
    mayHaveRequests = false
    try seen.advance(over: connection)
    try applyPauses(over: connection)
    // Requests that arrive during a poll are queried again after it.
    let held = feeds.filter { $0.isHeld && !$0.isPolling }
    let requested = try RefreshQueue.accept(for: held.map(\.name), over: connection)
    for feed in held where requested.contains(feed.name) { feed.requestPoll() }
  }

  /// Pauses and resumes feeds as the database has it, and registers those that were forgotten meanwhile: a
  /// lock is a part of the feed's row.
  private func applyPauses(over connection: Connection) throws {
    let pauses = try FeedControl.pauses(of: feeds.map(\.name), over: connection)
    for feed in feeds {
      if let pause = pauses[feed.name] {
        feed.setPause(pause)
      } else if !feed.isHeld {
        try FeedState.register([(feed.name, feed.url)], over: connection)
      }
    }
  }

  // MARK: - Working and waiting

  private func continueChecks(over connection: Connection) throws {
    for feed in feeds { try feed.continueCheck(over: connection) }
  }

  /// Of the feeds whose download is complete, the one that was due first.
  private func nextDownloaded() -> PolledFeed? {
    feeds.filter(\.isDownloaded).min { $0.due < $1.due }
  }

  /// Runs the chores until a feed is due; then waits for a due time, a download, a request, a lock or a signal. A chore
  /// that is not finished when a feed is due continues after it.
  private func workOrWait(over connection: Connection) throws {
    let due = feeds.compactMap(\.nextPoll).min()
    let shouldStop = { [unowned self] in
      context.showLife()
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
}
