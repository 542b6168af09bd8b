public import Postgres

/// The kind of server process behind a connection. Only a direct session on a primary can `LISTEN`.
public enum SessionKind: Sendable {
  /// A session on a primary.
  case direct
  /// A session on a hot standby, where there is no `LISTEN`.
  case standby
  /// A pooler that lends a session for each transaction: it accepts `LISTEN`, and then lends the session to
  /// another client.
  case pooled

  /// Finds out what `connection` leads to, and lets it prepare statements if the session is direct.
  ///
  /// - Parameter another: Opens a second connection to the same database; is called only if a pooler is in
  ///   between.
  public static func of(
    _ connection: Connection, another: () throws(PostgresError) -> Connection
  ) throws(PostgresError) -> SessionKind {
    let session = try connection.execute("select pg_is_in_recovery(), pg_backend_pid()")
    if session.bool(0, 0) == true { return .standby }
    // A pooler answers the client's connection request itself, with an invented process id.
    guard session.integer(0, 1) != Int64(connection.serverProcessID) else { return .direct }
    connection.keepsStatements = try !isPooled(connection, another: another)
    return connection.keepsStatements ? .direct : .pooled
  }

  /// A pooled session returns to the pooler between two statements, and the next client gets it; a direct
  /// one stays with its client. Other clients may use the session in between, so this tries more than once.
  private static func isPooled(
    _ connection: Connection, another: () throws(PostgresError) -> Connection
  ) throws(PostgresError) -> Bool {
    let first = try process(of: connection)
    let second = try another()
    for _ in 0..<5 {
      if try process(of: second) == first { return true }
      if try process(of: connection) != first { return true }
    }
    return false
  }

  private static func process(of connection: Connection) throws(PostgresError) -> Int64? {
    try connection.execute("select pg_backend_pid()").integer(0, 0)
  }
}
