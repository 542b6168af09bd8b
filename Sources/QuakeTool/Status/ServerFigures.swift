internal import Glibc
package import Postgres
internal import QuakeModel

/// What the PostgreSQL server shows of its slots, its standbys and its disk. What the role may not see is missing.
package struct ServerFigures {
  /// A replication slot, which keeps WAL for its reader.
  package struct Slot {
    package let name: String
    package let isActive: Bool
    /// Whether its reader lacks WAL, or soon will.
    package let isLost: Bool
    /// Why nobody can read it any more, as versions from 17 on tell: `wal_removed`, `idle_timeout` and the like.
    package let invalidation: String?
    package let retainedBytes: Int64
    /// WAL that the reader of a logical slot has not confirmed; nil for a physical slot. Below zero, the reader has
    /// confirmed more than there is: this server was restored, or has lost transactions in a failover.
    package let behindBytes: Int64?
    /// How long ago the server wrote what that reader confirmed last; nil if that is not known, as while it is idle.
    package let lagSeconds: Double?
  }

  /// This database as a region: what it gets from its centre.
  package struct Region: Sendable {
    package let name: String
    package let isSubscribed: Bool
    /// Whether its subscription is enabled.
    package let isEnabled: Bool
    /// How long ago the centre had nothing that is not here; nil if no worker has caught up since its start.
    package let lagSeconds: Double?
    /// WAL of the centre that has arrived since then; nil likewise.
    package let behindBytes: Int64?
    /// How often its workers have failed.
    package let errors: Int64
    /// Tables whose first copy is not done.
    package let copying: Int
    /// Whether the subscription has the tables of events and history. One that was restored, or went through pg_upgrade
    /// from a version before 17, has none, and skips all that the centre commits.
    package let hasTables: Bool
  }

  /// A standby that is connected to this server; what is unknown is nil.
  package struct Standby {
    package let name: String
    package let isStreaming: Bool?
    /// Whether commits may wait for it.
    package let isSynchronous: Bool?
    /// Zero if it has replayed all.
    package let lagSeconds: Double?
    package let behindBytes: Int64?
  }

  /// How far this server is behind its primary.
  package struct OwnLag {
    package let isReceiving: Bool
    /// Nil if it has not replayed a transaction yet.
    package let seconds: Double?
  }

  /// The file system of the data folder.
  package struct Disk {
    package let folder: String
    package let freeBytes: Double
    package let sizeBytes: Double
    package var freeShare: Double { freeBytes / max(sizeBytes, 1) }
  }

  package let slots: [Slot]
  /// Nil if this database is no region.
  package let region: Region?
  package let standbys: [Standby]
  /// Nil if this server is no standby.
  package let ownLag: OwnLag?
  /// Nil if the server is on another machine, or the role does not see where its data are.
  package let disk: Disk?

  package init(over connection: Connection) throws(PostgresError) {
    slots = try Self.slots(over: connection)
    region = try Self.region(over: connection)
    standbys = try Self.standbys(over: connection)
    ownLag = try Self.ownLag(over: connection)
    disk = try Self.disk(over: connection)
  }

  package static func slots(over connection: Connection) throws(PostgresError) -> [Slot] {
    // The server writes on: its position is asked for after a row has that of the slot.
    let end: SQL = """
      case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end
      """
    return try connection.rows(
      """
      select slot_name, active, coalesce(wal_status, '') in ('lost', 'unreserved'),
             to_jsonb(s) ->> 'invalidation_reason',
             coalesce(pg_wal_lsn_diff(\(sql: end), restart_lsn), 0)::int8,
             pg_wal_lsn_diff(\(sql: end), confirmed_flush_lsn)::int8,
             (select extract(epoch from r.flush_lag)::float8 from pg_stat_replication r
               where r.pid = s.active_pid and s.slot_type = 'logical')
        from pg_replication_slots s
       -- Since version 17 a standby has copies of slots, which nobody reads there. After its promotion they are read.
       where not (pg_is_in_recovery() and coalesce((to_jsonb(s) ->> 'synced')::boolean, false))
       order by slot_name
      """, as: (String, Bool, Bool, String?, Int64, Int64?, Double?).self
    ).map {
      Slot(
        name: $0, isActive: $1, isLost: $2, invalidation: $3, retainedBytes: $4, behindBytes: $5,
        lagSeconds: $6)
    }
  }

  /// This database as a region; nil if it is none or a hot standby, or the role may not know.
  package static func region(over connection: Connection) throws(PostgresError) -> Region? {
    guard
      try connection.row(
        """
        select not pg_is_in_recovery()
               and coalesce(has_table_privilege(to_regclass('quake.regional_database'), 'select'), false)
        """,
        as: Bool.self)
    else { return nil }
    return try connection.rows(
      // A worker confirms what it has applied when it gets a keepalive, which the centre sends when it has nothing else.
      // One that has just started has got one without a position.
      """
      select d.name, s.oid is not null, coalesce(s.subenabled, false),
             (select max(case when w.latest_end_lsn is not null
                              then extract(epoch from clock_timestamp() - w.latest_end_time) end)::float8
                from pg_stat_subscription w where w.subid = s.oid and w.relid is null),
             (select max(pg_wal_lsn_diff(w.received_lsn, w.latest_end_lsn))::int8
                from pg_stat_subscription w where w.subid = s.oid and w.relid is null),
             coalesce((select e.apply_error_count + e.sync_error_count
                         from pg_stat_get_subscription_stats(s.oid) e), 0),
             (select count(*) from pg_subscription_rel r where r.srsubid = s.oid and r.srsubstate <> 'r'),
             (select count(*) = 3 from pg_subscription_rel r
               where r.srsubid = s.oid
                 and r.srrelid in ('quake.quake'::regclass, 'quake.quake_version'::regclass,
                                   'quake.change_transaction'::regclass))
        from quake.regional_database d
        left join pg_subscription s on s.subname = 'quake_region_' || d.name
             and s.subdbid = (select oid from pg_database where datname = current_database())
       where d.is_here
      """, as: (String, Bool, Bool, Double?, Int64?, Int64, Int, Bool).self
    ).first.map {
      Region(
        name: $0, isSubscribed: $1, isEnabled: $2, lagSeconds: $3, behindBytes: $4, errors: $5,
        copying: $6, hasTables: $7)
    }
  }

  /// The connected standbys by name, each name once.
  package static func standbys(over connection: Connection) throws(PostgresError) -> [Standby] {
    try connection.rows(
      """
      select name, state, is_synchronous, lag, bytes
        from (select application_name as name, bool_and(state = 'streaming') as state,
                     bool_and(sync_state in ('sync', 'quorum')) as is_synchronous,
                     max(case when replay_lsn >= sent_lsn then 0
                              else extract(epoch from replay_lag) end)::float8 as lag,
                     max(pg_wal_lsn_diff(case when pg_is_in_recovery() then pg_last_wal_receive_lsn()
                                              else pg_current_wal_lsn() end, replay_lsn))::int8 as bytes
                from pg_stat_replication
               -- A base backup is no standby, and neither is the reader of a logical slot.
               where state is distinct from 'backup'
                 and pid not in (select l.active_pid from pg_replication_slots l
                                  where l.slot_type = 'logical' and l.active_pid is not null)
               group by 1) s
       order by 1
      """, as: (String, Bool?, Bool?, Double?, Int64?).self
    ).map {
      Standby(name: $0, isStreaming: $1, isSynchronous: $2, lagSeconds: $3, behindBytes: $4)
    }
  }

  /// How far this server is behind its primary; nil if it is no standby.
  package static func ownLag(over connection: Connection) throws(PostgresError) -> OwnLag? {
    let (isStandby, isReceiving, seconds) = try connection.row(
      """
      select pg_is_in_recovery(), exists (select from pg_stat_wal_receiver),
             -- While the primary sends nothing, the last transaction gets older without being late.
             case when exists (select from pg_stat_wal_receiver)
                   and pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn() then 0
                  else extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) end::float8
      """, as: (Bool, Bool, Double?).self)
    return isStandby ? OwnLag(isReceiving: isReceiving, seconds: seconds) : nil
  }

  /// The disk, if the server is on this machine and listens on a Unix socket.
  package static func disk(over connection: Connection) throws(PostgresError) -> Disk? {
    let (isHere, folder) = try connection.row(
      """
      select inet_server_addr() is null, (select setting from pg_settings where name = 'data_directory')
      """, as: (Bool, String?).self)
    var state = statvfs()
    guard isHere, let folder, statvfs(folder, &state) == 0 else { return nil }
    let block = Double(state.f_frsize)
    return Disk(
      folder: folder, freeBytes: Double(state.f_bavail) * block,
      sizeBytes: Double(state.f_blocks) * block)
  }
}

extension ServerFigures.Region {
  package func write(to metrics: inout PrometheusText) {
    let labels: KeyValuePairs = ["region": name]
    metrics.gauge(
      "quake_region_running",
      "Whether the region's subscription is enabled, has copied all tables, and has caught up since its worker started.",
      [.init(isEnabled && hasTables && copying == 0 && lagSeconds != nil ? 1 : 0, labels)])
    metrics.gauge(
      "quake_region_lag_seconds", "Time since the region had all that its centre had.",
      [.init(lagSeconds, labels)])
    metrics.gauge(
      "quake_region_behind_bytes", "WAL of the centre that has arrived since then.",
      [.init(behindBytes.map(Double.init), labels)])
    metrics.gauge(
      "quake_region_copying_tables", "Tables of the region whose first copy is not done.",
      [.init(Double(copying), labels)])
    metrics.counter(
      "quake_region_errors_total", "How often workers of the region's subscription failed.",
      [.init(Double(errors), labels)])
  }

  /// Writes the region as a member of the status.
  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("name", name)
      json.member("subscribed", isSubscribed)
      json.member("enabled", isEnabled)
      json.member("lag_seconds", lagSeconds)
      json.member("behind_bytes", behindBytes)
      json.member("errors", errors)
      json.member("copying_tables", copying)
      json.member("has_tables", hasTables)
    }
  }
}
