package import Postgres
package import QuakeHistory
package import QuakeModel

/// The state of a store: its feeds and their workers, its newest import and change, its watchers, its sizes.
package struct StoreStatus: Sendable {
  /// A feed and its worker (`quake.feed_status`).
  package struct Feed: Sendable {
    /// Its short name.
    package var name: String
    /// When the last imported snapshot was generated.
    package var generated: Timestamp?
    /// Last attempt.
    package var polledAt: Timestamp?
    /// Last attempt that succeeded, including answers "not modified".
    package var succeededAt: Timestamp?
    /// Time between two polls, in seconds; nil if unknown.
    package var interval: Double?
    /// When the next poll is due; nil: at once.
    package var nextDue: Timestamp?
    /// Failed attempts since the last that succeeded.
    package var failures: Int
    /// The error of the last attempt; nil if it succeeded.
    package var error: String?
    /// The last import of it.
    package var lastImport: Int64?
    /// Whether a worker polls it now.
    package var isHeld: Bool
    /// Process id of that worker's server process.
    package var holderPID: Int64?
    /// Its `application_name`.
    package var holderApplication: String?
    /// Its address; nil over a Unix socket, or if the role may not see it.
    package var holderAddress: String?
    /// The address that is polled, without a password.
    package var url: String
    /// Who has paused it, and when; nil: it is not paused.
    package var pause: FeedPause?
    /// When a worker ended that polled it only once; nil if a worker polled it last that was to run until
    /// stopped.
    package var endedAt: Timestamp?
  }

  /// The newest import (`quake.import`).
  package struct LastImport: Sendable {
    /// Its number.
    package var id: Int64
    /// The feed's short name.
    package var feed: String
    /// When it finished; nil if it has not.
    package var finishedAt: Timestamp?
    /// Records in the feed.
    package var seen: Int64
    /// Events that were new.
    package var inserted: Int64
    /// Events whose contents differed.
    package var updated: Int64
    /// Events with equal contents.
    package var unchanged: Int64
    /// Records that could not be imported.
    package var rejected: Int64
  }

  /// The newest transaction of the history.
  package struct Newest: Sendable {
    /// Its token.
    package var token: ChangeToken
    /// When it was committed, by the server's clock.
    package var at: Timestamp
  }

  /// A table with its indexes and its large values.
  package struct Table: Sendable {
    /// Its name, without the schema's.
    package var name: String
    /// In bytes.
    package var bytes: Int64
  }

  /// The server's time when the status was read.
  package var time: Timestamp
  /// The feeds by name.
  package var feeds: [Feed]
  /// The newest import; nil if there is none.
  package var lastImport: LastImport?
  /// Quarantined snapshots that are neither applied nor discarded.
  package var quarantined: Int64
  /// Simulated events, which never happened; nil if the role may not read events.
  package var simulatedEvents: Int64?
  /// The newest transaction; nil if there is none.
  package var newest: Newest?
  /// The named watchers.
  package var watchers: [DurableCursor.Status]
  /// The used share of the server's notification queue, 0 to 1.
  package var notificationQueueUsage: Double
  /// Size of the whole database in bytes.
  package var databaseBytes: Int64
  /// The tables of the schema `quake`, the largest first.
  package var tables: [Table]
  /// Sessions that have waited for a lock longer than the limit; see `LockWait.all`.
  package var lockWaits: [LockWait] = []
  /// The sessions that may pin the notification queue. They are determined only if the queue is fuller than
  /// the limit.
  package var notificationQueueSuspects: [LockWait.Session] = []
}

extension StoreStatus {
  /// Reads the state of a store, whose schema must be the one of this program. A hot standby does not show
  /// which workers poll the feeds.
  ///
  /// - Parameters:
  ///   - lockWait: The longest time that a session may wait for a lock.
  ///   - queueShare: The largest used share of the notification queue, 0 to 1.
  package static func read(
    over connection: Connection, lockWait: Duration, queueShare: Double
  ) throws -> StoreStatus {
    let now = try connection.execute(
      """
      select clock_timestamp(), pg_notification_queue_usage(), pg_database_size(current_database()),
             (select count(*) from quake.import where quarantined_at is not null and decision is null),
             has_table_privilege('quake.quake', 'select')
      """, format: .binary)
    var status = StoreStatus(
      time: Timestamp(microseconds: now.binaryTimestamp(0, 0) ?? 0),
      feeds: try feeds(connection), lastImport: try lastImport(connection),
      quarantined: now.binaryInteger(0, 3) ?? 0, newest: try newest(connection),
      watchers: try DurableCursor.list(over: connection),
      notificationQueueUsage: now.binaryDouble(0, 1) ?? 0,
      databaseBytes: now.binaryInteger(0, 2) ?? 0, tables: try tables(connection))
    if now.binaryBool(0, 4) == true {
      // Their codes are a range of the primary key.
      status.simulatedEvents = try connection.execute(
        """
        select count(*) from quake.quake
         where code >= 'sim' and code < 'sin' and source = 'simulated'
        """, format: .binary
      ).binaryInteger(0, 0)
    }
    status.lockWaits = try LockWait.all(longerThan: lockWait, over: connection)
    if status.notificationQueueUsage >= queueShare {
      status.notificationQueueSuspects = try NotificationQueue.suspects(over: connection)
    }
    return status
  }

  /// The feeds by name.
  package static func feeds(_ connection: Connection) throws -> [Feed] {
    let rows = try connection.execute(
      """
      select name, generated, polled_at, succeeded_at, extract(epoch from every)::double precision,
             next_due, failures, error, last_import_id, held, holder_pid, holder_application,
             host(holder_address), url, paused_by, paused_at, ended_at
        from quake.feed_status order by name
      """, format: .binary)
    return (0..<rows.rowCount).map { row in
      func time(_ column: Int) -> Timestamp? {
        rows.binaryTimestamp(row, column).map { Timestamp(microseconds: $0) }
      }
      return Feed(
        name: rows.text(row, 0) ?? "", generated: time(1), polledAt: time(2),
        succeededAt: time(3), interval: rows.binaryDouble(row, 4), nextDue: time(5),
        failures: Int(rows.binaryInteger(row, 6) ?? 0), error: rows.text(row, 7),
        lastImport: rows.binaryInteger(row, 8), isHeld: rows.binaryBool(row, 9) ?? false,
        holderPID: rows.binaryInteger(row, 10), holderApplication: rows.text(row, 11),
        holderAddress: rows.text(row, 12), url: rows.text(row, 13) ?? "",
        pause: FeedPause(by: rows.text(row, 14), since: rows.binaryTimestamp(row, 15)),
        endedAt: time(16))
    }
  }

  private static func lastImport(_ connection: Connection) throws -> LastImport? {
    let rows = try connection.execute(
      """
      select id, feed, finished_at, seen, inserted, updated, unchanged, rejected
        from quake.import order by id desc limit 1
      """, format: .binary)
    guard rows.rowCount > 0 else { return nil }
    func count(_ column: Int) -> Int64 { rows.binaryInteger(0, column) ?? 0 }
    return LastImport(
      id: count(0), feed: rows.text(0, 1) ?? "",
      finishedAt: rows.binaryTimestamp(0, 2).map { Timestamp(microseconds: $0) }, seen: count(3),
      inserted: count(4), updated: count(5), unchanged: count(6), rejected: count(7))
  }

  private static func newest(_ connection: Connection) throws -> Newest? {
    let rows = try connection.execute(
      """
      select token || '.' || nonce, at from quake.change_transaction order by token desc limit 1
      """, format: .binary)
    guard rows.rowCount > 0, let token = rows.text(0, 0).flatMap({ ChangeToken($0) }),
      let at = rows.binaryTimestamp(0, 1)
    else { return nil }
    return Newest(token: token, at: Timestamp(microseconds: at))
  }

  private static func tables(_ connection: Connection) throws -> [Table] {
    let rows = try connection.execute(
      """
      select c.relname::text, pg_total_relation_size(c.oid)
        from pg_class c
       where c.relnamespace = 'quake'::regnamespace and c.relkind = 'r'
       order by 2 desc, 1
      """, format: .binary)
    return (0..<rows.rowCount).map {
      Table(name: rows.text($0, 0) ?? "", bytes: rows.binaryInteger($0, 1) ?? 0)
    }
  }
}

/// The server's notification queue. It fills up if a listener does not read; when it is full, commits that
/// send a notification fail.
package enum NotificationQueue {
  /// The used share from which it needs attention. Above it, Quake's commits send no notifications.
  package static let standardLimit = 0.25

  /// The sessions that most likely pin it, at most five, the most likely first. The server does not show
  /// which sessions listen, but a session that does not read, or stays in a transaction, receives no
  /// notifications.
  package static func suspects(
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
