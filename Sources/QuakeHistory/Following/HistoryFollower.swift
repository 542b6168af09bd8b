package import Basics
package import Postgres
package import QuakeModel

/// Follows the history: hands over the changes after a cursor in commit order, a page at a time, and waits
/// for new ones.
///
/// Its owner connects, and decides when to read and how long to wait:
///
/// ```swift
/// try follower.connect(over: connection)
/// try follower.begin(after: cursor)  // over a later connection: resume()
/// try follower.listen()
/// while true {
///   while try !follower.readPage(handle) {}
///   if try follower.wait(until: deadline, wake: descriptor) == .woken { break }
/// }
/// ```
///
/// The follower decides how it learns of new changes: it listens for notifications where the session can.
/// It polls behind a pooler that shares sessions, where notifications bring nothing or do not come, and under load.
/// On a hot standby it polls how far the standby has replayed.
///
/// It holds no transaction between two calls. Not safe for concurrent use.
package final class HistoryFollower {
  /// Why it polls although its session can listen.
  package enum PollingReason: Sendable {
    /// Notifications come without end and bring no changes: another program sends them.
    case uselessNotifications
    /// The server's notification queue is so full that commits do not notify.
    case fullQueue
  }

  private let openConnection: () throws(PostgresError) -> Connection
  private var connection: Connection?
  private var reader: HistoryReader?
  private var listener: ChangeListener?
  private var throttle = PollThrottle()
  /// The kind of session that the connection has.
  package private(set) var session = SessionKind.direct
  /// Whether the history has been read to its end, as it was at the last read.
  package private(set) var isAtEnd = false

  /// How often it polls behind a pooler, and how long its owner waits for a standby that is late.
  package static let pollInterval = Duration.seconds(1)
  /// A notification may be lost without a trace. So the history is read this often anyway, which also
  /// shows whether the server is still there.
  private static let safetyInterval = Duration.seconds(5)

  /// A follower without a connection.
  ///
  /// - Parameter openConnection: Opens another connection to the same database, for a moment. It is called
  ///   only if a pooler is between the program and the server.
  package init(openConnection: @escaping () throws(PostgresError) -> Connection) {
    self.openConnection = openConnection
  }

  /// How far it has come: everything up to there has been handed over. Nil before `begin`.
  package var cursor: HistoryCursor? { reader?.cursor }

  /// Why it polls now although its session can listen; nil if it listens, if the session cannot listen,
  /// or under load.
  package var pollingReason: PollingReason? { listener?.pollingReason }

  // MARK: - Connections

  /// Takes a connection; `begin` or `resume` comes next.
  package func connect(over connection: Connection) throws(PostgresError) {
    disconnect()
    session = try SessionKind.of(connection, another: openConnection)
    if session == .direct {
      throttle = PollThrottle(isRegion: try HistoryReader.isCopy(connection))
    }
    self.connection = connection
  }

  /// Forgets the connection, but not the cursor.
  package func disconnect() {
    connection = nil
    listener = nil
    throttle = PollThrottle()
    isAtEnd = false
  }

  /// Whether an error only means that its connection leads to a standby or a region, which does not have yet what was
  /// read elsewhere.
  package func isLate(_ error: StoreError) throws -> Bool {
    try error.kind == .token(.future) && HistoryReader.isCopy(connected())
  }

  /// Begins after `cursor`.
  ///
  /// - Throws: `StoreError` of kind `token` if the cursor is not one of this history.
  package func begin(after cursor: HistoryCursor) throws {
    reader = try HistoryReader(connection: try connected(), after: cursor)
    isAtEnd = false
  }

  /// Resumes at its cursor, over a new connection.
  ///
  /// - Throws: `StoreError` of kind `token` if the server's history is not the one that was read before.
  package func resume() throws {
    guard let reader else { throw Self.hasNotBegun }
    self.reader = try HistoryReader(connection: try connected(), continuing: reader)
    isAtEnd = false
  }

  private func connected() throws(StoreError) -> Connection {
    guard let connection else { throw Self.hasNotBegun }
    return connection
  }

  private static let hasNotBegun = StoreError(
    .inconsistent, "the history was read without a connection or a cursor")

  // MARK: - Reading

  /// Reads one page and hands over its changes. While it does, the server reads the next one, if there is
  /// more.
  ///
  /// - Parameter body: Gets each change, in commit order. When it throws, the page counts as read up to the
  ///   change before.
  /// - Returns: Whether the end of the history was reached, as it was after the call began.
  /// - Throws: `StoreError` of kind `token` if the next changes have been purged meanwhile.
  package func readPage(_ body: (Change) throws -> Void) throws -> Bool {
    guard var reader else { throw Self.hasNotBegun }
    let before = reader.cursor
    do {
      // Also when `body` throws: the cursor is then after the last change that `body` accepted.
      defer { self.reader = reader }
      isAtEnd = try reader.readPage(body)
    }
    if let answer = reader.lastAnswer { throttle.add(answer) }
    try listener?.hasRead(foundChanges: reader.cursor != before)
    return isAtEnd
  }

  // MARK: - Waiting

  /// Begins to listen, if the session can. Call it before the history is read to its end: a commit after
  /// that read sends a notification.
  package func listen() throws {
    listener = try ChangeListener(connection: try connected(), session: session)
  }

  /// Waits until there may be new changes. The history is to be read after any outcome but `woken`.
  ///
  /// - Parameters:
  ///   - deadline: When to return in any case; nil: the follower decides. It returns earlier, because the
  ///     history is read every five seconds whether or not a notification comes.
  ///   - wake: A descriptor that becomes readable when the wait is to end.
  /// - Returns: `ready` if changes are likely, `timedOut` if not.
  package func wait(
    until deadline: Deadline? = nil, wake: Int32
  ) throws -> Connection.WaitOutcome {
    guard var listener else {
      try listen()
      return .ready
    }
    defer { self.listener = listener }
    if session == .direct, throttle.isPolling {
      try listener.pause()
      return Connection.pause(for: throttle.delay, wake: wake) == .woken ? .woken : .ready
    }
    // While it did not listen, commits sent it no notification.
    if try listener.resume() { return .ready }
    let latest = Deadline(after: Self.safetyInterval)
    let outcome = try listener.wait(until: min(deadline ?? latest, latest), wake: wake)
    if listener.isPromoted {
      try connected().noteTimeline()
      session = try SessionKind.of(try connected(), another: openConnection)
      listener = try ChangeListener(connection: try connected(), session: session)
    }
    return outcome
  }

  /// Makes the server independent of this side while the owner is busy elsewhere; `wait` listens again.
  ///
  /// It receives the prefetched page, whose statement would keep its snapshot, and stops listening, because
  /// the server keeps notifications until the slowest listener has read them.
  package func pause() throws(PostgresError) {
    try connection?.finishPrefetch()
    try listener?.pause()
  }
}

extension Duration {
  /// A duration from the database's seconds, limited to values from zero to about thirty years: a double can
  /// be greater than any duration.
  package init(lag seconds: Double) {
    self = .seconds(min(max(0, seconds), 1e9))
  }
}

/// How long a server may be silent while it owes an answer.
///
/// It doubles after a timeout, because the server may be alive but slow. Together with the follower's
/// safety interval, the shortest timeout detects a dead connection within 15 s.
package struct AnswerTimeout {
  /// The timeout for the next connection.
  package private(set) var duration = shortest

  private static let shortest = Duration.seconds(8)
  /// For statements that may wait for others.
  package static let longest = Duration.seconds(64)

  package init() {}

  /// Doubles it, up to a limit, because it has passed.
  package mutating func extend() {
    duration = min(duration * 2, Self.longest)
  }

  /// Returns to the shortest, because the server has answered.
  package mutating func reset() {
    duration = Self.shortest
  }
}
