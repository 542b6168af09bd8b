internal import Postgres
internal import QuakeModel
internal import QuakeStore

/// Follows the history on a thread of its own: listens, reads to the end, waits for the bell. After a
/// lost connection the same from the start, from where it was.
final class HistoryFollower {
  /// Where to begin.
  enum Start: Sendable {
    /// After what is committed when the first connection has been made.
    case now
    case after(HistoryPlace)
  }

  private let settings: ConnectionSettings
  private let wake: Int32
  private let start: Start

  private var connection: Connection?
  private var listener: ChangeListener?
  private var reader: HistoryReader?
  private var hasBeenConnected = false
  /// Whether something may have been committed since the history was last read.
  private var mayHaveGrown = true
  private var backoff = Backoff()

  /// The bell may be lost without a trace; the log is asked anyway this often, which also shows whether
  /// the server is still there.
  private static let safetyPoll = Duration.seconds(5)
  /// How long a server may be silent while it owes an answer.
  private static let answerTimeout = Duration.seconds(10)

  /// A follower that connects when it is first asked for something.
  ///
  /// - Parameter wake: A descriptor that becomes readable when it is to end.
  init(_ settings: ConnectionSettings, wake: Int32, start: Start) {
    self.settings = settings
    self.wake = wake
    self.start = start
  }

  /// How far it has come; nil before it has begun.
  var place: HistoryPlace? { reader?.place }

  /// Reads the next page that has changes; waits for it if there is none.
  ///
  /// - Parameter body: Gets each change, in commit order.
  /// - Returns: Whether the end of the history was reached.
  /// - Throws: `PostgresError` if the first connection cannot be made, or of kind `interrupted`;
  ///   `StoreError`. A connection that is lost later is made again.
  func readPage(_ body: (Change) throws -> Void) throws -> Bool {
    try retrying { connection in
      if listener == nil {
        // Before reading: what is committed after the last read rings.
        listener = try ChangeListener(connection: connection)
        mayHaveGrown = true
      }
      var count = 0
      while true {
        if !mayHaveGrown { try waitForBell() }
        let isAtEnd = try read(over: connection) {
          count += 1
          try body($0)
        }
        backoff.reset()
        mayHaveGrown = !isAtEnd
        if count > 0 { return isAtEnd }
      }
    }
  }

  /// Stops listening until the next page is asked for: whoever does not read what the server sends must
  /// not listen.
  func rest() {
    guard let listener else { return }
    self.listener = nil
    do throws(PostgresError) {
      try listener.stop()
    } catch {
      lose()
    }
  }

  /// Begins again with what `body` reads, after the token that it returns.
  ///
  /// - Parameter body: Is called again when the connection was lost meanwhile.
  func begin(with body: (Connection) throws -> ChangeToken) throws {
    // A listener inside a transaction would pin the server's notification queue.
    rest()
    reader = nil
    try retrying { connection in
      connection.answerTimeout = nil
      defer { connection.answerTimeout = Self.answerTimeout }
      let token = try body(connection)
      reader = try HistoryReader(connection: connection, after: token)
    }
  }

  private func read(
    over connection: Connection, _ body: (Change) throws -> Void
  ) throws -> Bool {
    guard var reader else {
      throw StoreError(.inconsistent, "the history was read before there was a place in it")
    }
    // Also when it throws: the place is behind what has been handed over.
    defer { self.reader = reader }
    return try reader.readPage(body)
  }

  private func waitForBell() throws {
    guard let listener else { return }
    if try listener.wait(for: Self.safetyPoll, wake: wake) == .woken { throw Self.interrupted }
  }

  // MARK: - Connecting

  private func retrying<Value>(_ body: (Connection) throws -> Value) throws -> Value {
    while true {
      do {
        return try body(try connected())
      } catch let error as PostgresError where error.isTransient && hasBeenConnected {
        lose()
        let pause = Deadline(after: backoff.next())
        if WakeDescriptor.wait(for: wake, until: pause) { throw Self.interrupted }
      }
    }
  }

  private func connected() throws -> Connection {
    if let connection { return connection }
    let connection = try Connection(settings, wake: wake)
    connection.interrupt = wake
    connection.answerTimeout = Self.answerTimeout
    try Migrator.checkSchema(of: connection)
    try place(over: connection)
    hasBeenConnected = true
    self.connection = connection
    return connection
  }

  /// Takes a place in the history, or the one it had.
  private func place(over connection: Connection) throws {
    if let reader {
      self.reader = try HistoryReader(connection: connection, continuing: reader)
      return
    }
    switch start {
    case .now:
      reader = try HistoryReader(
        connection: connection, after: try HistoryReader.latestToken(over: connection))
    case .after(let place):
      reader = try HistoryReader(connection: connection, after: place)
    }
  }

  private func lose() {
    listener = nil
    connection = nil
    mayHaveGrown = true
  }

  private static let interrupted = PostgresError(kind: .interrupted, message: "interrupted")
}
