public import Postgres

/// The server's notification queue. It fills up if a listener does not read; when it is full, commits that
/// send a notification fail.
public enum NotificationQueue {
  /// The used share from which it needs attention. Above it, Quake's commits send no notifications.
  public static let standardLimit = 0.25

  /// The sessions that most likely pin it, at most five, the most likely first. The server does not show
  /// which sessions listen, but a session that does not read, or stays in a transaction, receives no
  /// notifications.
  public static func suspects(
    over connection: Connection
  ) throws(PostgresError) -> [LockWait.Session] {
    let rows = try connection.execute(
      """
      select pid, usename, application_name, host(client_addr),
             case when wait_event = 'ClientWrite' then state || ', does not read' else state end,
             extract(epoch from clock_timestamp() - coalesce(xact_start, state_change))::double precision
        from pg_stat_activity
       where pid <> pg_backend_pid() and (xact_start is not null or wait_event = 'ClientWrite')
         and (backend_type = 'client backend' or backend_type is null)
       order by coalesce(wait_event = 'ClientWrite', false) desc,
                coalesce(state like 'idle in transaction%', false) desc, xact_start, pid
       limit 5
      """)
    return (0..<rows.rowCount).map { LockWait.session(rows, $0, from: 0) }
  }
}
