internal import Basics
internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// Follows the history on a thread of its own, and connects again when the connection is lost: then it
/// resumes at its cursor.
final class ReconnectingFollower {
  /// Where to begin.
  enum Start: Sendable {
    /// After what is committed when the first connection has been made.
    case now
    case after(HistoryCursor)
  }

  private let database: QuakeDatabase
  private let wake: Int32
  private let start: Start
  private let follower: HistoryFollower
  private var connection: Connection?
  private var hasBeenConnected = false
  private var outages: OutageLog
  private var answerTimeout = AnswerTimeout()
  private var backoff = Backoff()

  static let interrupted = PostgresError(kind: .interrupted, message: "interrupted")

  /// A follower that connects when it is first asked for something.
  ///
  /// - Parameter wake: A descriptor that becomes readable when the thread is to end.
  init(_ database: QuakeDatabase, wake: Int32, start: Start) {
    self.database = database
    self.wake = wake
    self.start = start
    outages = OutageLog(database)
    follower = HistoryFollower { () throws(PostgresError) in
      try Connection(database.settings, wake: wake)
    }
  }

  /// How far it has come; nil before it has begun.
  var cursor: HistoryCursor? { follower.cursor }

  /// Reads the next page that has changes.
  ///
  /// - Parameters:
  ///   - waiting: Whether to wait for one at the end of the history, or return without any.
  ///   - deadline: When to return without one; nil: never.
  ///   - body: Gets each change, in commit order.
  /// - Returns: Whether the end of the history was reached.
  /// - Throws: `PostgresError` if the first connection cannot be made, or of kind `interrupted`;
  ///   `StoreError`. A connection that is lost later is made again.
  func readPage(
    waiting: Bool, until deadline: Deadline? = nil, _ body: (Change) throws -> Void
  ) throws -> Bool {
    var before: HistoryCursor?
    return try perform { _ in
      // Changes that were read before the connection was lost must not wait for later ones.
      before = before ?? follower.cursor
      while true {
        if follower.isAtEnd {
          guard waiting else { return true }
          // After any other outcome the history is read, by which a server that is silent is noticed.
          guard try follower.wait(until: deadline, wake: wake) != .woken else {
            throw Self.interrupted
          }
        }
        let isAtEnd = try follower.readPage(body)
        if follower.cursor != before { return isAtEnd }
        if isAtEnd, deadline?.hasPassed == true { return true }
      }
    }
  }

  /// Waits for changes, and reads on to the end of the history.
  func readToEnd(_ body: (Change) throws -> Void) throws {
    var isAtEnd = try readPage(waiting: true, body)
    // The changes that were read must not wait for later ones.
    while !isAtEnd { isAtEnd = try readPage(waiting: false, body) }
  }

  /// Makes the server independent of this side until the next page is asked for.
  func pause() {
    do throws(PostgresError) {
      try follower.pause()
    } catch {
      disconnect()
    }
  }

  /// Begins again with what `body` reads, after the token that it returns.
  ///
  /// - Parameter body: Is called again when the connection was lost meanwhile.
  func begin(with body: (Connection) throws -> ChangeToken) throws {
    // A listener inside a transaction would pin the server's notification queue.
    pause()
    try perform(isBeginning: true) { connection in
      let answerTimeout = connection.answerTimeout
      connection.answerTimeout = nil  // sorting a long list takes its time
      defer { connection.answerTimeout = answerTimeout }
      try follower.begin(after: HistoryCursor(token: try body(connection)))
    }
  }

  // MARK: - Connecting

  /// Runs `body` over a connection, and again over a new one if it is lost meanwhile. Only the first
  /// connection must succeed.
  ///
  /// - Parameter isBeginning: Whether `body` itself begins.
  private func perform<Value>(
    isBeginning: Bool = false, _ body: (Connection) throws -> Value
  ) throws -> Value {
    while true {
      do {
        let value = try body(try connected(isBeginning: isBeginning))
        answerTimeout.reset()
        backoff.reset()
        outages.end()
        return value
      } catch let error where mayPass(error) {
        if (error as? PostgresError)?.kind == .timeout { answerTimeout.extend() }
        disconnect()
        outages.begin(error)
        let pause = Deadline(after: backoff.next())
        if WakeEvent.wait(for: wake, until: pause) { throw Self.interrupted }
      }
    }
  }

  private func connected(isBeginning: Bool) throws -> Connection {
    if let connection { return connection }
    let connection = try database.connect(wake: wake, answerTimeout: answerTimeout.duration)
    try follower.connect(over: connection)
    if !isBeginning {
      try begin(over: connection)
      // Before the first read: a commit after it sends a notification.
      try follower.listen()
    }
    hasBeenConnected = true
    self.connection = connection
    return connection
  }

  private func begin(over connection: Connection) throws {
    guard follower.cursor == nil else { return try follower.resume() }
    switch start {
    case .now:
      try follower.begin(
        after: HistoryCursor(token: try HistoryReader.latestToken(over: connection)))
    case .after(let cursor):
      try follower.begin(after: cursor)
    }
  }

  private func disconnect() {
    connection = nil
    follower.disconnect()
  }

  private func mayPass(_ error: any Error) -> Bool {
    switch error {
    case let error as PostgresError: error.isTransient && hasBeenConnected
    case let error as StoreError: (try? follower.isLate(error)) == true
    default: false
    }
  }
}

/// Tells a database's log of the loss of a connection, and when it was made again, however many attempts that takes.
struct OutageLog {
  private let database: QuakeDatabase
  private var isAway = false

  init(_ database: QuakeDatabase) { self.database = database }

  mutating func begin(_ error: any Error) {
    guard !isAway else { return }
    isAway = true
    database.log(
      QuakeDatabase.LogEvent(.warning, "the connection was lost, connecting again: \(error)"))
  }

  mutating func end() {
    guard isAway else { return }
    isAway = false
    database.log(QuakeDatabase.LogEvent(.notice, "connected again"))
  }
}
