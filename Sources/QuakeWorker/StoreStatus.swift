package import Postgres
package import QuakeHistory
package import QuakeModel

/// The state of a store: its feeds and their workers, its newest import and change, its watchers, its sizes.
package struct StoreStatus: Sendable {
  /// A feed and its worker (`quake.feed_status`).
  package struct Feed: Sendable {
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
    /// The address to which its server redirects for good, or on another host; nil: it does not.
    package var movedTo: String?
    /// Who has paused it, and when; nil: it is not paused.
    package var pause: FeedPause?
    /// When a worker ended that polled it only once; nil if a worker polled it last that was to run until
    /// stopped.
    package var endedAt: Timestamp?
  }

  /// The newest import (`quake.import`).
  package struct LastImport: Sendable {
    package var id: Int64
    package var feed: String
    /// When it finished; nil if it has not.
    package var finishedAt: Timestamp?
    /// Records in the feed.
    package var seen: Int64
    package var inserted: Int64
    package var updated: Int64
    package var unchanged: Int64
    /// Records that could not be imported.
    package var rejected: Int64
  }

  /// The newest transaction of the history.
  package struct Newest: Sendable {
    package var token: ChangeToken
    /// When it was committed, by the server's clock.
    package var at: Timestamp
  }

  /// A table with its indexes and its large values.
  package struct Table: Sendable {
    /// Its name, without the schema's.
    package var name: String
    package var bytes: Int64
    /// How many bytes it has grown since its size was noted, within the last week; nil: it was not noted.
    package var growth: Growth?

    package struct Growth: Sendable {
      /// In bytes; negative if the table has become smaller.
      package var bytes: Int64
      package var since: Timestamp
    }
  }

  /// The server's time when the status was read.
  package var time: Timestamp
  package var feeds: [Feed]
  package var lastImport: LastImport?
  /// Quarantined snapshots that are neither applied nor discarded.
  package var quarantined: Int64
  /// Simulated events, which never happened; nil if the role may not read events.
  package var simulatedEvents: Int64?
  package var newest: Newest?
  package var watchers: [DurableCursor.Status]
  /// The used share of the server's notification queue, 0 to 1.
  package var notificationQueueUsage: Double
  /// Size of the whole database in bytes.
  package var databaseBytes: Int64
  /// The tables of the schema `quake`, the largest first.
  package var tables: [Table]
  /// The sessions that may pin the notification queue. They are determined only if the queue is fuller than
  /// the limit.
  package var notificationQueueSuspects: [DatabaseSession] = []
}

extension StoreStatus {
  /// Reads the state of a store, whose schema must be the one of this program. A hot standby does not show
  /// which workers poll the feeds.
  ///
  /// - Parameter queueShare: The largest used share of the notification queue, 0 to 1.
  package static func read(over connection: Connection, queueShare: Double) throws -> StoreStatus {
    let (time, queueUsage, bytes, quarantined, mayReadEvents) = try connection.row(
      """
      select clock_timestamp(), pg_notification_queue_usage(), pg_database_size(current_database()),
             (select count(*) from quake.import where quarantined_at is not null and decision is null),
             has_table_privilege('quake.quake', 'select')
      """, format: .binary, as: (Timestamp, Double, Int64, Int64, Bool).self)
    var status = StoreStatus(
      time: time, feeds: try feeds(connection), lastImport: try lastImport(connection),
      quarantined: quarantined, newest: try newest(connection),
      watchers: try DurableCursor.list(over: connection), notificationQueueUsage: queueUsage,
      databaseBytes: bytes, tables: try tables(connection))
    if mayReadEvents {
      // Their codes are a range of the primary key.
      status.simulatedEvents = try connection.row(
        """
        select count(*) from quake.quake
         where code >= 'sim' and code < 'sin' and source = 'simulated'
        """, as: Int64.self)
    }
    if status.notificationQueueUsage >= queueShare {
      status.notificationQueueSuspects = try NotificationQueue.suspects(over: connection)
    }
    return status
  }

  package static func feeds(_ connection: Connection) throws -> [Feed] {
    try connection.rows(
      """
      select name, generated, polled_at, succeeded_at,
             extract(epoch from every)::double precision as every, next_due, failures, error,
             last_import_id, held, holder_pid, holder_application,
             host(holder_address) as holder_address, url, paused_by, paused_at, ended_at, moved_to
        from quake.feed_status order by name
      """, format: .binary
    ) { row throws(PostgresError) in
      Feed(
        name: try row["name"], generated: try row["generated"], polledAt: try row["polled_at"],
        succeededAt: try row["succeeded_at"], interval: try row["every"],
        nextDue: try row["next_due"], failures: try row["failures"] ?? 0, error: try row["error"],
        lastImport: try row["last_import_id"], isHeld: try row["held"] ?? false,
        holderPID: try row["holder_pid"], holderApplication: try row["holder_application"],
        holderAddress: try row["holder_address"], url: try row["url"] ?? "",
        movedTo: try row["moved_to"],
        pause: FeedPause(by: try row["paused_by"], since: try row["paused_at"]),
        endedAt: try row["ended_at"])
    }
  }

  private static func lastImport(_ connection: Connection) throws -> LastImport? {
    try connection.firstRow(
      """
      select id, feed, finished_at, seen, inserted, updated, unchanged, rejected
        from quake.import order by id desc limit 1
      """, format: .binary
    ) { row throws(PostgresError) in
      LastImport(
        id: try row["id"], feed: try row["feed"], finishedAt: try row["finished_at"],
        seen: try row["seen"], inserted: try row["inserted"], updated: try row["updated"],
        unchanged: try row["unchanged"], rejected: try row["rejected"])
    }
  }

  private static func newest(_ connection: Connection) throws -> Newest? {
    try connection.firstRow(
      """
      select token || '.' || nonce, at from quake.change_transaction order by token desc limit 1
      """, format: .binary, as: (ChangeToken, Timestamp).self
    ).map { Newest(token: $0, at: $1) }
  }

  private static func tables(_ connection: Connection) throws -> [Table] {
    try connection.rows(
      """
      select c.relname::text, pg_total_relation_size(c.oid) as bytes, n.bytes, n.at
        from pg_class c
        left join lateral (
          select s.bytes, s.at from quake.table_size s
           where s.name = c.relname and s.at >= clock_timestamp() - interval '7 days'
           order by s.at limit 1) n on true
       where c.relnamespace = 'quake'::regnamespace and c.relkind = 'r'
       order by 2 desc, 1
      """, format: .binary, as: (String, Int64, Int64?, Timestamp?).self
    ).map { name, bytes, noted, at in
      var table = Table(name: name, bytes: bytes)
      if let noted, let at { table.growth = Table.Growth(bytes: bytes - noted, since: at) }
      return table
    }
  }
}

/// A session, as another session sees it. Properties that this role may not see are nil.
package struct DatabaseSession: Sendable, Equatable {
  /// Process id of its server process; nil also for a prepared transaction.
  package var processID: Int64?
  package var role: String?
  /// Its `application_name`.
  package var application: String?
  /// Address of the client; also nil over a Unix socket.
  package var client: String?
  /// Its state, such as `idle in transaction`.
  package var state: String?
  /// Seconds since it entered this state.
  package var seconds: Double?

  package init(
    processID: Int64?, role: String?, application: String?, client: String?, state: String?,
    seconds: Double?
  ) {
    self.processID = processID
    self.role = role
    self.application = application
    self.client = client
    self.state = state
    self.seconds = seconds
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
  ) throws(PostgresError) -> [DatabaseSession] {
    try connection.rows(
      """
      select pid, usename, application_name, host(client_addr) as client,
             case when wait_event = 'ClientWrite' then state || ', does not read' else state end as state,
             extract(epoch from clock_timestamp() - coalesce(xact_start, state_change))::double precision
               as seconds
        from pg_stat_activity
       where pid <> pg_backend_pid() and (xact_start is not null or wait_event = 'ClientWrite')
         and (backend_type = 'client backend' or backend_type is null)
       order by coalesce(wait_event = 'ClientWrite', false) desc,
                coalesce(state like 'idle in transaction%', false) desc, xact_start, pid
       limit 5
      """
    ) { row throws(PostgresError) in
      DatabaseSession(
        processID: try row["pid"], role: try row["usename"],
        application: try row["application_name"], client: try row["client"],
        state: try row["state"], seconds: try row["seconds"])
    }
  }
}
