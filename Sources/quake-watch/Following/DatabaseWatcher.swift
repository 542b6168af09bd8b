import Basics
import CLinux
import CommandLine
import Postgres
import QuakeClient
import QuakeHistory
import QuakeModel
import QuakeTool

/// Follows the history of a database until the watch is complete: connects, again after each loss, and reports
/// what happens. `HistoryFollower` reads and waits, `Delivery` hands over.
final class DatabaseWatcher: Watcher {
  private let diagnostics: Diagnostics
  private let source: DatabaseSource
  private let delivery: Delivery
  private let follows: Bool
  /// Asks the workers to poll their feeds; nil if that was not requested.
  private let refresh: Refresh?

  private var follower: HistoryFollower { source.follower }
  private let session: DatabaseSession
  private var reports: FollowerReports
  private var hasReportedLateCopy = false
  private var announcement = WatchAnnouncement()

  /// - Parameters:
  ///   - follows: Whether to continue at the end of the history.
  ///   - refreshes: Whether to ask the workers to poll their feeds, to begin with.
  init(
    database: DatabaseAccess, diagnostics: Diagnostics, source: DatabaseSource,
    delivery: Delivery, follows: Bool, refreshes: Bool = false
  ) {
    refresh = refreshes ? Refresh(diagnostics: diagnostics) : nil
    self.diagnostics = diagnostics
    self.source = source
    self.delivery = delivery
    self.follows = follows
    session = DatabaseSession(database, diagnostics)
    reports = FollowerReports(diagnostics)
  }

  // MARK: - Connections

  func run() throws {
    try session.run(
      follows: follows, mayRetry: { [delivery] in delivery.hasBegun },
      onLoss: { [source] in source.disconnect() }
    ) { try watch(over: $0) }
  }

  // MARK: - Watching

  /// Watches over one connection until the watch is complete.
  private func watch(over connection: Connection) throws {
    while true {
      try source.connect(over: connection)
      do {
        let isReconnected = session.takeReconnected()
        // A snapshot that is never completed begins again each time.
        session.isFollowing = follows
        try delivery.begin()
        return try follow(over: connection, isReconnected: isReconnected)
      } catch let error as StoreError {
        if try follower.isLate(error) {
          // A snapshot would be older.
          guard follows else { throw error }
          if waitForCopy(error) { return }
          continue
        }
        let error = try delivery.explained(error)
        guard delivery.canReset(after: error) else { throw error }
        diagnostics.warning(
          error.message, detail: error.detail, hint: "Beginning again with a snapshot.")
        try follower.pause()
        try delivery.reset(after: error)
      }
    }
  }

  /// Hands over the history to its end, and then each new change, until the watch is complete.
  private func follow(over connection: Connection, isReconnected: Bool) throws {
    guard follows else {
      _ = try readToEnd()
      return
    }
    // Before reading: a commit after the read sends a notification.
    try follower.listen()
    if isReconnected { reports.reconnected(follower) }
    reports.session(of: follower)
    try refresh?.ask(over: connection)
    // The watch is idle after a second without changes. Then each wait begins with the release of the
    // memory that the read before it took; the next read allocates it in a fraction of a millisecond.
    var isIdle = false
    while try readToEnd() {
      session.hasAnswered(over: connection)
      announcement.tell(follower.cursor, diagnostics)
      reports.polling(of: follower)
      try delivery.showLife()
      try refresh?.tell(over: connection)
      if isIdle { quake_release_idle_memory() }
      let isShort = !isIdle || refresh?.isPending == true
      let pause = min(delivery.timeToSignOfLife, isShort ? .seconds(1) : .seconds(60))
      switch try follower.wait(until: Deadline(after: pause), wake: Signals.wakeDescriptor) {
      case .ready: isIdle = false
      case .timedOut: isIdle = true
      case .woken:
        Signals.drainWake()
        if Signals.stopRequested { return }
      }
      reports.session(of: follower)
      reports.polling(of: follower)
    }
  }

  private func readToEnd() throws -> Bool {
    try delivery.readToEnd(shouldStop: { Signals.stopRequested })
  }

  // MARK: - Slow consumers

  func pauseWhileOutputStalls() {
    // If the connection is lost, the next statement fails.
    _ = try? follower.pause()
  }

  // MARK: - Messages

  /// Reports the delay of a standby or a region once, and waits a moment.
  ///
  /// - Returns: Whether the watch was stopped meanwhile.
  private func waitForCopy(_ error: StoreError) -> Bool {
    if !hasReportedLateCopy {
      let copy = follower.session == .standby ? "standby" : "region"
      diagnostics.warning(
        error.message, detail: error.detail, hint: "Waiting for the \(copy) to catch up.")
      hasReportedLateCopy = true
    }
    _ = Signals.wait(timeout: HistoryFollower.pollInterval)
    return Signals.stopRequested
  }
}

/// The history in a database, over the connection that there is at the moment.
final class DatabaseSource: ChangeSource {
  let follower: HistoryFollower
  private var connection: Connection?

  init(_ follower: HistoryFollower) {
    self.follower = follower
  }

  func connect(over connection: Connection) throws(PostgresError) {
    self.connection = connection
    try follower.connect(over: connection)
  }

  /// Forgets the connection, but not the cursor.
  func disconnect() {
    connection = nil
    follower.disconnect()
  }

  func connected() throws(StoreError) -> Connection {
    guard let connection else {
      throw StoreError(.inconsistent, "the history was read without a connection")
    }
    return connection
  }

  var cursor: HistoryCursor? { follower.cursor }

  func begin(after cursor: HistoryCursor) throws { try follower.begin(after: cursor) }

  func resume() throws { try follower.resume() }

  func newestCursor() throws -> HistoryCursor {
    HistoryCursor(token: try HistoryReader.latestToken(over: try connected()))
  }

  func token(at time: Timestamp) throws -> ChangeToken {
    try HistoryBound.time(time).resolve(over: try connected())
  }

  func oldestToken() throws -> ChangeToken {
    try HistoryBound.oldest.resolve(over: try connected())
  }

  func verify(_ token: ChangeToken) throws {
    _ = try HistoryBound.token(token).resolve(over: try connected())
  }

  /// Call it while the follower does not listen: a listener inside a transaction pins the server's
  /// notification queue.
  func readSnapshot(
    begin: (ChangeToken) throws -> Void, _ body: (EventRecord) throws -> Void
  ) throws {
    try Snapshot.read(over: try connected(), begin: begin, body)
  }

  func readPage(_ body: (Change) throws -> Void) throws -> Bool { try follower.readPage(body) }
}

/// The source from which a `Delivery` reads the history: a database, or a server of `quake-serve`.
protocol ChangeSource: AnyObject {
  /// How far the history has been handed over; nil before `begin`.
  var cursor: HistoryCursor? { get }

  /// Begins after `cursor`.
  ///
  /// - Throws: `StoreError` of kind `token` if the cursor is not one of this history.
  func begin(after cursor: HistoryCursor) throws
  /// Resumes at its cursor, over another connection.
  ///
  /// - Throws: `StoreError` of kind `token` if this history is not the one that was read before.
  func resume() throws

  /// The cursor at which the history ends now.
  func newestCursor() throws -> HistoryCursor
  /// The token of the last transaction committed by a time.
  func token(at time: Timestamp) throws -> ChangeToken
  /// The token before the oldest change that is still held.
  func oldestToken() throws -> ChangeToken
  /// Makes sure that a token is one of this history.
  ///
  /// - Throws: `StoreError` of kind `token` if it is not, or no longer.
  func verify(_ token: ChangeToken) throws

  /// Reads the present list of events: its token first, then each event.
  func readSnapshot(
    begin: (ChangeToken) throws -> Void, _ body: (EventRecord) throws -> Void) throws
  /// Reads some changes, in commit order. When `body` throws, the history counts as read up to the change
  /// before.
  ///
  /// - Returns: Whether there are no more at the moment.
  func readPage(_ body: (Change) throws -> Void) throws -> Bool
}

extension ServerFollower: ChangeSource {}
