internal import Postgres
internal import QuakeHistory
internal import QuakeModel
internal import SystemClock

/// Follows the history on a thread of its own: listens, reads to the end, waits for the bell. After a
/// lost connection the same from the start, from where it was.
final class HistoryFollower {
  /// Where to begin.
  enum Start: Sendable {
    /// After what is committed when the first connection has been made.
    case now
    case after(HistoryCursor)
  }

  private let link: DatabaseLink
  private let start: Start
  private var connection: Connection?
  private var listener: ChangeListener?
  private var reader: HistoryReader?
  /// Whether something may have been committed since the history was last read to its end.
  private var mayHaveGrown = true
  private var standbyCheck = Deadline(after: standbyPatience)

  /// The bell may be lost without a trace; the log is asked anyway this often, which also shows whether
  /// the server is still there.
  private static let safetyPoll = Duration.seconds(5)
  /// How often a standby is looked at for whether it has been promoted, and can ring now.
  private static let standbyPatience = Duration.seconds(30)

  /// A follower that connects when it is first asked for something.
  ///
  /// - Parameter wake: A descriptor that becomes readable when it is to end.
  init(_ settings: ConnectionSettings, wake: Int32, start: Start) {
    link = DatabaseLink(settings, wake: wake)
    self.start = start
  }

  /// How far it has come; nil before it has begun.
  var place: HistoryCursor? { reader?.place }

  /// Reads the next page that has changes.
  ///
  /// - Parameters:
  ///   - waiting: Whether to wait for one at the end of the history, or return without any.
  ///   - body: Gets each change, in commit order.
  /// - Returns: Whether the end of the history was reached.
  /// - Throws: `PostgresError` if the first connection cannot be made, or of kind `interrupted`;
  ///   `StoreError`. A connection that is lost later is made again.
  func readPage(waiting: Bool, _ body: (Change) throws -> Void) throws -> Bool {
    try perform { connection, session in
      while true {
        try listen(over: connection, session)
        if !mayHaveGrown {
          guard waiting else { return true }
          try waitForBell(session)
        }
        var count = 0
        let isAtEnd = try read {
          count += 1
          try body($0)
        }
        mayHaveGrown = !isAtEnd
        try listener?.hasRead(foundChanges: count > 0)
        if count > 0 { return isAtEnd }
      }
    }
  }

  /// Leaves the connection quiet until the next page is asked for. The server must not wait for this
  /// side: neither with a page that was asked for ahead, which would keep its snapshot, nor with
  /// notifications, which it keeps for all listeners until the slowest has had them.
  func rest() {
    do throws(PostgresError) {
      try connection?.finishPrefetch()
      try listener?.pause()
    } catch {
      link.disconnect()
      forget()
    }
  }

  /// Begins again with what `body` reads, after the token that it returns.
  ///
  /// - Parameter body: Is called again when the connection was lost meanwhile.
  func begin(with body: (Connection) throws -> ChangeToken) throws {
    // A listener inside a transaction would pin the server's notification queue.
    rest()
    reader = nil
    try perform { connection, _ in
      let answerTimeout = connection.answerTimeout
      connection.answerTimeout = nil  // sorting a long list takes its time
      defer { connection.answerTimeout = answerTimeout }
      let token = try body(connection)
      reader = try HistoryReader(connection: connection, after: token)
      mayHaveGrown = true
    }
  }

  // MARK: - Reading

  private func read(_ body: (Change) throws -> Void) throws -> Bool {
    guard var reader else {
      throw StoreError(.inconsistent, "the history was read before there was a place in it")
    }
    // Also when it throws: the place is behind what has been handed over.
    defer { self.reader = reader }
    return try reader.readPage(body)
  }

  /// Before reading: what is committed after the last read rings.
  private func listen(over connection: Connection, _ session: SessionKind) throws {
    if listener == nil {
      listener = try ChangeListener(connection: connection, session: session)
      standbyCheck = Deadline(after: Self.standbyPatience)
      mayHaveGrown = true
    } else if try listener?.resume() == true {
      mayHaveGrown = true
    }
  }

  private func waitForBell(_ session: SessionKind) throws {
    if session == .standby, standbyCheck.hasPassed {
      throw PostgresError(kind: .connection, message: "the standby may have been promoted")
    }
    if try listener?.wait(for: Self.safetyPoll, wake: link.wake) == .woken {
      throw DatabaseLink.interrupted
    }
  }

  // MARK: - Connecting

  private func perform<Value>(_ body: (Connection, SessionKind) throws -> Value) throws -> Value {
    try link.perform(prepare: takePlace, lose: forget, body)
  }

  /// Takes the place to begin after, or the one it had.
  private func takePlace(over connection: Connection) throws {
    if let reader {
      self.reader = try HistoryReader(connection: connection, continuing: reader)
    } else {
      switch start {
      case .now:
        reader = try HistoryReader(
          connection: connection, after: try HistoryReader.latestToken(over: connection))
      case .after(let place):
        reader = try HistoryReader(connection: connection, after: place)
      }
    }
    self.connection = connection
  }

  private func forget() {
    connection = nil
    listener = nil
    mayHaveGrown = true
  }
}
