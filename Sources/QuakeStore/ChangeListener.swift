public import Postgres

/// The bell: tells that the history may have grown. Nothing is ever read from a notification but
/// that; the history itself is what counts.
///
/// Where the server cannot ring, a wait is a pause, after which the history is to be asked.
public struct ChangeListener {
  private let connection: Connection
  /// What the connection leads to; only a session of one's own can listen.
  public let session: SessionKind
  /// Whether the server rings now.
  public private(set) var isListening = false

  /// How long a wait lasts where nothing rings.
  public static let pollInterval = Duration.seconds(1)

  /// Begins to listen over `connection`, if it leads to a session that can.
  public init(connection: Connection, session: SessionKind) throws(PostgresError) {
    self.connection = connection
    self.session = session
    try resume()
  }

  /// Listens again after `pause`. What was committed in between did not ring: read the history to its
  /// end before waiting.
  public mutating func resume() throws(PostgresError) {
    guard session == .own, !isListening else { return }
    try connection.execute("listen quake_changes")
    isListening = true
  }

  /// Stops listening, because nobody will take the notifications for a while: the server keeps them
  /// for all listeners until the slowest has had them.
  public mutating func pause() throws(PostgresError) {
    guard isListening else { return }
    isListening = false
    try connection.execute("unlisten *")
  }

  /// Waits until the bell rings, at most for `duration`; where nothing rings, at most for
  /// `pollInterval`. Many rings are one.
  ///
  /// - Parameter rest: For how long not to answer the bell, to begin with.
  public func wait(for duration: Duration, rest: Duration = .zero, wake: Int32)
    throws(PostgresError) -> Connection.WaitOutcome
  {
    let deadline = Deadline(after: isListening ? duration : min(duration, Self.pollInterval))
    if rest > .zero, Connection.pause(for: rest, wake: wake) == .woken { return .woken }
    // A notification that came with the answer to a query is here already.
    while try !connection.dropNotifications() {
      let outcome = connection.wait(until: deadline, wake: wake)
      guard outcome == .ready else { return outcome }
      // What comes may be no notification, without end.
      if deadline.hasPassed { return .timedOut }
    }
    return .ready
  }
}
