public import Postgres

/// The server's notification queue, which is full when its slowest listener is far behind: then commits
/// fail that send a notification.
public enum NotificationQueue {
  /// The share above which somebody should look after it. From there on commits send no notifications
  /// of ours.
  public static let standardLimit = 0.25

  /// The sessions that most likely hold it: which ones listen cannot be seen from outside, but one that
  /// does not read what it is sent, or stays in a transaction, receives none. The worst come first, at
  /// most five.
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
