public import Postgres

/// The bell: tells that the history may have grown. Nothing is ever read from a notification but
/// that; the history itself is what counts.
public struct ChangeListener {
  private let connection: Connection

  /// Begins to listen over `connection`.
  public init(connection: Connection) throws(PostgresError) {
    self.connection = connection
    try connection.execute("listen quake_changes")
  }

  /// Waits until the bell rings, at most for `duration`. Many rings are one.
  public func wait(for duration: Duration, wake: Int32) throws(PostgresError)
    -> Connection.WaitOutcome
  {
    let deadline = Deadline(after: duration)
    // A notification that came with the answer to a query is here already.
    while try connection.takeNotifications().isEmpty {
      let outcome = connection.wait(until: deadline, wake: wake)
      guard outcome == .ready else { return outcome }
    }
    return .ready
  }

  /// Stops listening. Whoever does not read what the server sends must not listen: the server keeps
  /// every notification, of all databases, until all listeners have had it.
  public func stop() throws(PostgresError) {
    try connection.execute("unlisten quake_changes")
  }
}
