import CommandLine
import Postgres
import QuakeFeed
import QuakeStore
import QuakeTool

/// Polls the feeds that it holds one after the other, each when it is due or asked for, and stands by
/// for those that other workers hold. Nothing a feed or the database does ends it.
final class Worker {
  private let database: DatabaseAccess
  private var connection: Connection?
  private let diagnostics: Diagnostics
  private let settings: WorkerSettings
  private let importing: ImportSettings
  private let judging: JudgingOptions
  private var feeds: [PolledFeed]
  private let service: ServiceManager
  private var history: HistoryKeeper?
  private var standby: Standby
  /// When it is time to show life, which looking for requests does.
  private var lifeSign: Interval
  /// Whether the bell for requests has rung.
  private var hasRung = true
  private var backoff = Backoff(first: .milliseconds(250), longest: .seconds(30))
  /// Whether each feed is polled once, and not again.
  private var pollsOnce = false
  private lazy var poller = FeedPoller(
    fetcher: FeedFetcher(
      timeoutMilliseconds: importing.timeoutMilliseconds,
      whileWaiting: { [unowned self] in showLife() }),
    settings: importing, judging: judging, service: service, diagnostics: diagnostics)

  /// - Parameter connection: One that is ready for a worker.
  init(
    database: DatabaseAccess, connection: Connection, diagnostics: Diagnostics,
    settings: WorkerSettings, importing: ImportSettings, judging: JudgingOptions,
    feeds: [PolledFeed], service: ServiceManager, history: HistoryKeeper?
  ) {
    self.database = database
    self.connection = connection
    self.diagnostics = diagnostics
    self.settings = settings
    self.feeds = feeds
    self.service = service
    self.history = history
    self.importing = importing
    self.judging = judging
    standby = Standby(takeoverAfter: settings.takeoverAfter, diagnostics: diagnostics)
    lifeSign = Interval(settings.lifeSign)
  }

  /// Polls until it is told to stop.
  ///
  /// - Throws: `StoreError` or `UnfitConnection` if the database comes back with a schema that this
  ///   program does not know, or as one that it cannot work with: waiting will not help.
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
        let next = nextFeed()
        if let next, time(of: next) <= MonotonicClock.now() {
          try serve(next, over: connection)
        } else {
          try rest(until: next.map { time(of: $0) }, over: connection)
        }
      } catch let error as PostgresError where error.kind == .interrupted {
        leave(error)
      } catch let error as PostgresError {
        lose(error)
      }
    }
    return .ok
  }

  /// Polls each feed once; the status of the first that failed.
  func pollOnce() -> ExitStatus {
    pollsOnce = true
    guard let connection else { return .unavailable }
    var status = ExitStatus.ok
    do {
      try takeFeedsOnce(over: connection)
      for index in feeds.indices where !Signals.stopRequested {
        let result = feeds[index].isHeld ? try poll(index, over: connection) : refuse(feeds[index])
        if status == .ok { status = result }
      }
      return status
    } catch let error as PostgresError where error.kind == .interrupted {
      leave(error)
      return Failure(error)?.status ?? .tryLater
    } catch {
      lose(error)
      return Failure(error)?.status ?? .failed
    }
  }

  private func refuse(_ feed: PolledFeed) -> ExitStatus {
    diagnostics.error(
      "feed \"\(feed.name)\" is polled by another worker",
      hint: "\"quake-admin refresh \(feed.name)\" has that worker poll it now.",
      fields: ["feed": .text(feed.name)])
    return .tryLater
  }

  /// Told to stop while another session held a lock: the poll counts for nothing, and is made again by
  /// whoever polls the feed next.
  private func leave(_ error: PostgresError) {
    diagnostics.warning(error.message, detail: error.detail)
  }

  // MARK: - The connection

  private func reconnect() throws {
    do {
      let regained = try database.reconnect(wake: Signals.wakeDescriptor)
      if !importing.isDryRun { try database.prepareForWorker(regained, feeds: feeds, diagnostics) }
      connection = regained
      hasRung = true
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

  /// With the connection go the locks. Whether the connection was lost or only refused something, the
  /// way out is the same: another one, after a while.
  private func lose(_ error: any Error) {
    let problem = Failure(error)?.message ?? "\(error)"
    let isLoss = (error as? PostgresError)?.isConnectionLoss == true
    let message = isLoss ? "lost the database: \(problem)" : "could not go on: \(problem)"
    diagnostics.warning(
      message, hint: "It goes on when the database is back; what is stored already stays as it is."
    )
    service.status(message)
    connection = nil
    for index in feeds.indices { feeds[index].isHeld = false }
    standby.reset()
    _ = service.wait(timeout: backoff.next())
  }

  /// A server process that waits for its client for long is taken for one whose client has stopped. So
  /// while something else is waited for the connection is used now and then.
  private func showLife() {
    service.alive()
    guard let connection, connection.isIdle, lifeSign.takeDue() else { return }
    // If it is lost, whoever uses it next is told.
    _ = try? connection.execute("select")
  }

  // MARK: - What there is to do

  private func takeFeeds(over connection: Connection) throws {
    let wanted = feeds.filter { !$0.isHeld }.map(\.name)
    try hold(importing.isDryRun ? wanted : standby.take(wanted, over: connection), over: connection)
  }

  /// A worker that has just ended may still hold a lock for a moment: that is waited for.
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
      // What the last one knew: its validators, its failures, and when the next poll is due.
      feeds[index].take(
        importing.isDryRun ? FeedState() : try state(of: feeds[index], over: connection))
    }
    hasRung = true
  }

  private func takeRequests(over connection: Connection) throws {
    guard !importing.isDryRun, lifeSign.takeDue() || hasRung else { return }
    hasRung = false
    let held = feeds.filter(\.isHeld).map(\.name)
    let wanted = try RefreshQueue.take(for: held, over: connection)
    for index in feeds.indices where wanted.contains(feeds[index].name) { feeds[index].want() }
  }

  private func time(of index: Int) -> Duration {
    feeds[index].next(refreshInterval: settings.refreshInterval)
  }

  private func nextFeed() -> Int? {
    feeds.indices.filter { feeds[$0].isHeld }.min { time(of: $0) < time(of: $1) }
  }

  /// Waits for the next feed's time, a request, a lock or a signal. The history is looked after first,
  /// but feeds count for more: what is not done when the next is due is done after it.
  private func rest(until due: Duration?, over connection: Connection) throws {
    try history?.purge(
      over: connection,
      shouldStop: { [service] in
        service.alive()
        return Signals.stopRequested || due.map { MonotonicClock.now() >= $0 } == true
      })
    var pauses = [lifeSign.remaining]
    if let due { pauses.append(max(.zero, due - MonotonicClock.now())) }
    if !feeds.allSatisfy(\.isHeld) { pauses.append(standby.remaining) }
    if let history { pauses.append(history.remaining) }
    if let tick = service.remaining { pauses.append(tick) }
    // What arrived with the answer to a statement is here already, and does not wake.
    if try connection.takeNotifications().isEmpty {
      let deadline = Deadline(after: pauses.min() ?? .zero)
      switch connection.wait(until: deadline, wake: Signals.wakeDescriptor) {
      case .ready: hasRung = try !connection.takeNotifications().isEmpty || hasRung
      case .woken: Signals.drainWake()
      case .timedOut: break
      }
    } else {
      hasRung = true
    }
  }

  // MARK: - Polling

  private func state(of feed: PolledFeed, over connection: Connection) throws -> FeedState {
    try FeedState.load(feed.name, url: feed.url, every: feed.schedule.every, over: connection)
  }

  private func serve(_ index: Int, over connection: Connection) throws {
    guard feeds[index].mustWait else {
      try poll(index, over: connection)
      return
    }
    try poller.refuse(
      feeds[index], try state(of: feeds[index], over: connection), over: connection)
    feeds[index].answered()
  }

  /// Polls a feed that this worker holds.
  ///
  /// - Throws: `PostgresError` if the connection is lost. The feed is not to blame; it is polled as soon
  ///   as the database is back, by whoever holds it then.
  @discardableResult
  private func poll(_ index: Int, over connection: Connection) throws -> ExitStatus {
    let state = try state(of: feeds[index], over: connection)
    do {
      let outcome = try poller.poll(feeds[index], state, over: connection)
      feeds[index].polled(outcome.schedule, pause: outcome.pause)
      backoff.reset()
      return outcome.status
    } catch let error as PostgresError where error.isConnectionLoss || error.kind == .interrupted {
      throw error
    } catch {
      return try fail(index, state, error, over: connection)
    }
  }

  /// What a feed's failure leaves to do: look at what it gave, and wait.
  private func hint(after failure: Failure, _ pause: Duration) -> String {
    var hints: [String] = []
    if let hint = failure.hint, pollsOnce || failure.status == .badData { hints.append(hint) }
    if !pollsOnce { hints.append("Next attempt in \(Readable.duration(pause)).") }
    return hints.isEmpty ? "Try again later." : hints.joined(separator: " ")
  }

  private func fail(
    _ index: Int, _ state: FeedState, _ error: any Error, over connection: Connection
  ) throws -> ExitStatus {
    let failure = IngestCommand.failure(error) ?? Failure(error) ?? Failure(.failed, "\(error)")
    guard failure.status != .ok else { return .ok }  // told to stop while waiting for an answer
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
