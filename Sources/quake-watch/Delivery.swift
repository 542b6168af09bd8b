import Postgres
import QuakeHistory
import QuakeModel
import QuakeTool
import SystemClock

/// Hands the followed history over: it decides where to begin and when to end, filters the changes, and
/// stores the cursor.
final class Delivery {
  /// Where to begin.
  enum Start {
    case now
    case after(ChangeToken)
    /// After the last commit by that time.
    case since(Timestamp)
    case snapshot
  }

  /// Which changes to hand over.
  struct Settings {
    var start = Start.now
    var filter = QuakeFilter()
    /// After how many changes to end.
    var limit: Int64?
    /// With which transaction to end.
    var upTo: ChangeToken?
    /// How often to print a heartbeat.
    var heartbeat: Duration?
    /// Whether to begin again with a snapshot if the history is not available.
    var resetsToSnapshot = false
  }

  private let settings: Settings
  private let cursorStore: CursorStore
  private let handler: any ChangeHandler
  private let follower: HistoryFollower

  /// The cursor after which the history was last requested.
  private var requested = HistoryCursor(token: .beginning)
  private var handled: Int64 = 0
  private var hasReset = false
  /// Whether a snapshot has begun and has not been completed.
  private var isSnapshotCut = false
  private var heartbeat: PeriodicTimer?
  private var signOfLife = PeriodicTimer(.seconds(30))

  init(
    settings: Settings, cursorStore: CursorStore, handler: any ChangeHandler,
    follower: HistoryFollower
  ) {
    self.follower = follower
    self.settings = settings
    self.cursorStore = cursorStore
    self.handler = handler
    heartbeat = settings.heartbeat.map { PeriodicTimer($0) }
  }

  /// Whether anything has been handed over, or could have been.
  var hasBegun: Bool { follower.cursor != nil || isSnapshotCut }

  // MARK: - Beginning

  /// Begins, or resumes at its cursor over another connection.
  func begin(over connection: Connection) throws {
    if let cursor = follower.cursor {
      requested = cursor
      try follower.resume()
    } else if let cursor = try cursorStore.load(over: connection) {
      requested = cursor
      try checkEnd(from: cursor, over: connection)
      try follower.begin(after: cursor)
    } else {
      try checkEnd(from: nil, over: connection)
      switch settings.start {
      case .now:
        // "From now" is a cursor too, and is stored from the beginning.
        try begin(after: try HistoryReader.latestToken(over: connection), connection)
      case .after(let token):
        try begin(after: token, connection)
      case .since(let time):
        try begin(after: try HistoryBound.time(time).resolve(over: connection), connection)
      case .snapshot:
        try begin(after: try handOverFirstSnapshot(over: connection), connection)
      }
    }
  }

  /// Fails if the history cannot reach the token at which to end. A snapshot would not help.
  private func checkEnd(from cursor: HistoryCursor?, over connection: Connection) throws {
    guard let upTo = settings.upTo, !(cursor.map(isEnd) ?? false) else { return }
    do {
      _ = try HistoryBound.token(upTo).resolve(over: connection)
    } catch let error as StoreError {
      throw StoreError(
        .badData, error.message, detail: error.detail,
        hint: "--up-to needs a token of this history.")
    }
  }

  private func begin(after token: ChangeToken, _ connection: Connection) throws {
    requested = HistoryCursor(token: token)
    try follower.begin(after: requested)
    try cursorStore.begin(at: requested, over: connection)
  }

  /// Whether to begin again with a snapshot because of `error`: once, because a second time could be the
  /// beginning of a loop.
  func canReset(after error: StoreError) -> Bool {
    guard settings.resetsToSnapshot, !hasReset, case .token(let problem) = error.kind else {
      return false
    }
    return problem != .malformed
  }

  /// Reports that the history is not available, and begins again with a snapshot.
  func reset(after error: StoreError, over connection: Connection) throws {
    guard case .token(let problem) = error.kind else { throw error }
    let lost = requested.token
    let token = try handOverSnapshot(over: connection) { [handler] token in
      try handler.handle(reset: problem.rawValue, after: lost, token: token)
    }
    hasReset = true
    try begin(after: token, connection)
  }

  /// Hands over the snapshot that the watch begins with. If the connection is lost meanwhile the snapshot
  /// begins again, and the consumer is told to forget its first part.
  private func handOverFirstSnapshot(over connection: Connection) throws -> ChangeToken {
    let isRepeated = isSnapshotCut
    return try handOverSnapshot(over: connection) { [handler] token in
      if isRepeated {
        try handler.handle(reset: "interrupted", after: .beginning, token: token)
      }
    }
  }

  /// Call it while the follower does not listen: a listener inside a transaction pins the server's
  /// notification queue.
  private func handOverSnapshot(
    over connection: Connection, announce: (ChangeToken) throws -> Void
  ) throws -> ChangeToken {
    isSnapshotCut = true
    var token = ChangeToken.beginning
    var position: Int64 = 0
    try Snapshot.read(
      over: connection,
      begin: {
        token = $0
        try announce(token)
      }
    ) { record in
      guard settings.filter.accepts(record) else { return }
      try handler.handle(snapshot: record, token: token, position: position)
      position += 1
    }
    _ = try handler.flush(at: HistoryCursor(token: token))
    isSnapshotCut = false
    return token
  }

  // MARK: - Continuing

  /// Reads the history to its end and hands it over; false if the watch is complete.
  ///
  /// - Throws: `HandOverStopped` if the handler stops; its cursor has been stored.
  func readToEnd(over connection: Connection, shouldStop: () -> Bool) throws -> Bool {
    do {
      return try handOverToEnd(over: connection, shouldStop: shouldStop)
    } catch var stop as HandOverStopped {
      // Even if the cursor cannot be stored: the next watch must not skip changes.
      do {
        if let cursor = stop.cursor { try cursorStore.save(cursor, over: connection) }
      } catch {
        stop.cursorError = error
      }
      throw stop
    }
  }

  private func handOverToEnd(over connection: Connection, shouldStop: () -> Bool) throws -> Bool {
    guard var before = follower.cursor, !isEnd(before) else { return false }
    while true {
      requested = before
      let isAtEnd: Bool
      do {
        isAtEnd = try follower.readPage { change in
          if let upTo = settings.upTo, change.transaction.token.number > upTo.number {
            throw LimitReached()
          }
          guard settings.filter.accepts(change) else { return }
          if isLimitReached, handler.openTransaction != change.transaction.token {
            throw LimitReached()
          }
          try handler.handle(change)
          handled += 1
        }
      } catch is LimitReached {
        _ = try handOver(since: before, over: connection)
        return false
      }
      let isComplete = try handOver(since: before, over: connection)
      if handler.openTransaction == nil, isLimitReached || isComplete || shouldStop() {
        return false
      }
      if isAtEnd { return true }
      before = follower.cursor ?? before
    }
  }

  private struct LimitReached: Error {}

  /// Whether the transaction to end with has been handed over whole.
  private func isEnd(_ cursor: HistoryCursor) -> Bool {
    guard let upTo = settings.upTo else { return false }
    return cursor.token.number > upTo.number || cursor.token == upTo && cursor.changes == 0
  }

  private var isLimitReached: Bool { settings.limit.map { handled >= $0 } ?? false }

  /// Flushes the handler. The cursor is stored only when the changes before it have left this process.
  ///
  /// - Returns: Whether the transaction to end with has been read whole.
  private func handOver(since before: HistoryCursor, over connection: Connection) throws -> Bool {
    guard let cursor = follower.cursor else { return false }
    if cursor.changes == 0, heartbeat?.fireIfDue() == true {
      try handler.handle(heartbeat: cursor.token, at: .now())
    }
    if let flushed = try handler.flush(at: cursor), flushed != before {
      try cursorStore.save(flushed, over: connection)
    }
    return isEnd(cursor)
  }

  /// How long until `showLife` has something to do.
  var timeToSignOfLife: Duration {
    min(heartbeat?.remaining ?? .seconds(30), signOfLife.remaining)
  }

  /// Prints a heartbeat, and tells the database that the watcher runs, if they are due although nothing
  /// was committed.
  func showLife(over connection: Connection) throws {
    if signOfLife.fireIfDue() { try cursorStore.touch(over: connection) }
    guard let cursor = follower.cursor, cursor.changes == 0, heartbeat?.fireIfDue() == true else {
      return
    }
    try handler.handle(heartbeat: cursor.token, at: .now())
    _ = try handler.flush(at: cursor)
  }
}
