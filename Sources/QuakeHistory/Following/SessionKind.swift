public import Postgres

/// What a connection leads to, as far as listening goes: `LISTEN` needs a session of one's own on a
/// primary.
public enum SessionKind: Sendable {
  /// A session on a primary.
  case direct
  /// A session on a hot standby, where there is no `LISTEN`.
  case standby
  /// A pooler that lends a session for each transaction: `LISTEN` is taken there, and then
  /// somebody else has the session.
  case pooled

  /// Finds out what `connection` leads to, and lets it prepare statements if the session is its own.
  ///
  /// - Parameter another: Makes a second connection to the same place; called only if a pooler stands
  ///   between.
  public static func of(
    _ connection: Connection, another: () throws(PostgresError) -> Connection
  ) throws(PostgresError) -> SessionKind {
    let session = try connection.execute("select pg_is_in_recovery(), pg_backend_pid()")
    if session.bool(0, 0) == true { return .standby }
    // A pooler answers for the server when a client connects, and makes up a process id.
    guard session.integer(0, 1) != Int64(connection.serverProcessID) else { return .direct }
    connection.keepsStatements = try !isPooled(connection, another: another)
    return connection.keepsStatements ? .direct : .pooled
  }

  /// A session that is lent is back with the pooler between two statements, and goes to the next who
  /// asks; one that is a client's own stays with it. Other clients may come between, so it is tried
  /// more than once.
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
