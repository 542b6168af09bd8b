internal import Basics
package import Postgres
package import QuakeModel

/// What is wrong between a region and its centre.
package struct RegionFaults: Sendable {
  /// Each for a person, such as "quake_region lacks quake.tombstone".
  package private(set) var descriptions: [String] = []
  /// Whether changes of the centre may never have arrived, so that only a new copy helps.
  package private(set) var losesChanges = false

  fileprivate mutating func add(_ description: String, losesChanges: Bool) {
    descriptions.append(description)
    self.losesChanges = self.losesChanges || losesChanges
  }
}

/// A database as a region, or as the centre of regions.
package struct Region: Sendable {
  package let name: String
  package let isSubscribed: Bool

  /// The name of its subscription, and of its slot at the centre.
  package var slot: String { RegionTables.prefix + name }

  /// The region that a database is; nil if it is none.
  ///
  /// - Throws: `PostgresError`, also if the schema is older than regions.
  package static func own(of connection: Connection) throws(PostgresError) -> Region? {
    try connection.rows(
      """
      select d.name, exists (select from pg_subscription s
                              where s.subname = \(RegionTables.prefix) || d.name
                                and s.subdbid = (select oid from pg_database where datname = current_database()))
        from quake.regional_database d where d.is_here
      """, as: (String, Bool).self
    ).first.map { Region(name: $0, isSubscribed: $1) }
  }

  /// The regions of a centre by name, whether or not they still have a slot.
  package static func names(of centre: Connection) throws(PostgresError) -> [String] {
    try centre.rows(
      "select name from quake.regional_database where not is_here order by name", as: String.self)
  }

  /// How a region's server connects to the centre, which only a superuser may read; nil without a subscription.
  package func conninfo(over connection: Connection) throws(PostgresError) -> String? {
    try connection.firstRow(
      """
      select subconninfo from pg_subscription
       where subname = \(slot) and subdbid = (select oid from pg_database where datname = current_database())
      """, as: String.self)
  }

  /// Whether another database reads the slot of this region. Then this one is a copy of the region, as a restored backup
  /// is, which has the subscription as well.
  ///
  /// When the region's own worker ends, its sender at the centre may be there a moment longer: asks for three seconds.
  package func isReadElsewhere(
    than connection: Connection, at centre: Connection
  ) throws(PostgresError) -> Bool {
    let deadline = Deadline(after: .seconds(3))
    repeat {
      let isActive = try centre.firstRow(
        "select active from pg_replication_slots where slot_name = \(slot)", as: Bool.self)
      guard isActive == true, try !isRead(by: connection) else { return false }
      _ = Connection.pause(for: .milliseconds(50))
    } while !deadline.hasPassed
    return true
  }

  private func isRead(by connection: Connection) throws(PostgresError) -> Bool {
    try connection.row(
      """
      select exists (select from pg_stat_subscription w join pg_subscription s on s.oid = w.subid
                      where s.subname = \(slot) and w.pid is not null
                        and s.subdbid = (select oid from pg_database where datname = current_database()))
      """, as: Bool.self)
  }

  /// The error where `isReadElsewhere` says so.
  package func isCopy(_ connection: Connection) -> StoreError {
    StoreError(
      .conflict, "another database reads the slot \(slot) of region \"\(name)\"",
      detail: "\(connection.label) seems to be a copy of that region, such as a restored backup.",
      hint: """
        \"quake-admin region drop --centre-lost\" makes the copy an ordinary database, and leaves the region alone. If \
        this is the region itself, its connection has just broken: try again in a minute.
        """)
  }

  /// The first place in the history of a centre or a region where transactions are missing. The number of each
  /// transaction's versions is not looked at, which would take longer: `quake-query verify` counts them.
  package static func gap(in database: Connection) throws(PostgresError) -> PostgresError? {
    do throws(PostgresError) {
      try database.execute("select quake.history__changes(0, null)")
      return nil
    } catch {
      guard error.sqlState == StoreState.divergedToken else { throw error }
      return error
    }
  }

  /// Why the newest transactions of the region and of its centre cannot be those of one history; nil if they can. What is
  /// only late is no reason.
  ///
  /// The chain of the history shows a gap when the next transaction arrives. Until then a region looks well that has
  /// confirmed what it lacks, as a promoted standby of it may; and so does one whose centre has lost transactions that
  /// the region has. PostgreSQL skips what such a centre commits until its WAL is as long as that which the region has read.
  package func contradiction(
    over connection: Connection, at centre: Connection
  ) throws(PostgresError) -> String? {
    // A hot standby of either may be late.
    for database in [connection, centre] {
      guard try !database.row("select pg_is_in_recovery()", as: Bool.self) else { return nil }
    }
    let newest = try connection.firstRow(
      "select token, nonce from quake.change_transaction order by token desc limit 1",
      as: (Int64, String).self)
    if let (number, nonce) = newest {
      let isKnown = try centre.row(
        """
        select exists (select from quake.change_transaction t
                        where t.token = \(number) and t.nonce = \(nonce))
            or \(number) < coalesce((select max(f.token) from quake.history_floor f), 0)
        """, as: Bool.self)
      guard isKnown else {
        return
          "the centre lacks transaction \(number).\(nonce) of the region: it was restored, or a failover has lost it"
      }
    }
    // The workers of a first copy confirm what they leave to it.
    let isCopied = try connection.row(
      """
      select count(*) > 0 and coalesce(bool_and(r.srsubstate = 'r'), false)
        from pg_subscription_rel r join pg_subscription s on s.oid = r.srsubid
       where s.subname = \(slot)
         and s.subdbid = (select oid from pg_database where datname = current_database())
      """, as: Bool.self)
    // The position is one after the commit of that transaction.
    let sent = try centre.firstRow(
      """
      select token, nonce, pg_current_wal_lsn()::text from quake.change_transaction order by token desc limit 1
      """, as: (Int64, String, String).self)
    guard isCopied, let (number, nonce, position) = sent else { return nil }
    // A region that only is late gets it, or confirms nothing.
    let deadline = Deadline(after: .seconds(2))
    repeat {
      let isConfirmed = try centre.firstRow(
        """
        select coalesce(confirmed_flush_lsn >= \(position)::pg_lsn, false) from pg_replication_slots
         where slot_name = \(slot) and database = current_database()
        """, as: Bool.self)
      let isHere = try connection.row(
        "select coalesce(max(token), 0) >= \(number) from quake.change_transaction", as: Bool.self)
      guard !isHere, let isConfirmed else { return nil }
      if isConfirmed {
        return
          "the region lacks transaction \(number).\(nonce), and has confirmed to its centre that it has it"
      }
      _ = Connection.pause(for: .milliseconds(50))
    } while !deadline.hasPassed
    return nil
  }

  /// The `transaction_timeout` of the workers of the region, which versions from 17 on have; nil without one. What takes
  /// longer, a copy or a transaction of the centre, begins again for ever, and PostgreSQL counts it as no failure.
  ///
  /// - Parameter connection: Of the role that owns the subscription, whose settings the workers have.
  package static func transactionLimit(
    over connection: Connection
  ) throws(PostgresError) -> String? {
    try connection.firstRow(
      "select current_setting(name) from pg_settings where name = 'transaction_timeout' and setting <> '0'",
      as: String.self)
  }

  /// What to do about `transactionLimit`.
  package static func advice(onLimit limit: String) -> String {
    """
    What takes longer than transaction_timeout (\(limit)), a copy or a transaction of the centre, never arrives here. Set it \
    to 0 for the superuser that made the region.
    """
  }

  /// Why a slot cannot be read any more, in words.
  ///
  /// - Parameter invalidation: The reason in `pg_replication_slots`, which versions before 17 do not have.
  package static func reason(of invalidation: String?) -> String {
    switch invalidation {
    case nil, "wal_removed": "max_slot_wal_keep_size at the centre was exceeded"
    case "idle_timeout":
      "nobody has read it for longer than idle_replication_slot_timeout at the centre"
    case let other?: "the centre's server gives the reason \(other)"
    }
  }

  /// What is wrong with the publications of the centre, and with the subscription to them.
  package func faults(
    over connection: Connection, at centre: Connection
  ) throws -> RegionFaults {
    let tables = try centre.rows(
      """
      select t.pubname::text, format('%s.%s', t.schemaname, t.tablename), r.prqual is not null, r.prattrs is not null
        from pg_publication_tables t join pg_publication p on p.pubname = t.pubname
        left join pg_publication_rel r
             on r.prpubid = p.oid and r.prrelid = to_regclass(format('%I.%I', t.schemaname, t.tablename))
       where t.pubname = any (\(RegionTables.publications.map(\.name))::text[])
      """, as: (String, String, Bool, Bool).self)
    let operations = Dictionary(
      uniqueKeysWithValues: try centre.rows(
        """
        select pubname::text, array_remove(array[case when pubinsert then 'insert' end, case when pubupdate then 'update' end,
                 case when pubdelete then 'delete' end, case when pubtruncate then 'truncate' end], null) from pg_publication
        """, as: (String, [String]).self))
    let subscribed = Set(
      try connection.rows(
        """
        select r.srrelid::regclass::text
          from pg_subscription_rel r join pg_subscription s on s.oid = r.srsubid where s.subname = \(slot)
        """, as: String.self))
    var faults = RegionFaults()
    for publication in RegionTables.publications {
      let name = publication.name
      guard let present = operations[name] else {
        faults.add("the centre has no publication \(name)", losesChanges: true)
        continue
      }
      let wanted = publication.operations.split(separator: ", ").map(String.init)
      for operation in wanted where !present.contains(operation) {
        faults.add("\(name) does not publish \(operation)", losesChanges: true)
      }
      for operation in present where !wanted.contains(operation) {
        faults.add("\(name) also publishes \(operation)", losesChanges: false)
      }
      let published = tables.filter { $0.0 == name }
      for (_, table, hasCondition, hasColumns) in published {
        if !publication.tables.contains(table) {
          faults.add("\(name) also has \(table)", losesChanges: false)
        } else if hasCondition || hasColumns {
          faults.add(
            "\(name) has only some \(hasCondition ? "rows" : "columns") of \(table)",
            losesChanges: true)
        }
      }
      for table in publication.tables where !published.contains(where: { $0.1 == table }) {
        faults.add(
          "\(name) lacks \(table)",
          losesChanges: try subscribed.contains(table) || Self.hasRows(table, connection))
      }
    }
    guard isSubscribed else { return faults }
    let publications = try connection.rows(
      """
      select unnest(subpublications) from pg_subscription
       where subname = \(slot) and subdbid = (select oid from pg_database where datname = current_database())
      """, as: String.self)
    for name in RegionTables.publications.map(\.name) where !publications.contains(name) {
      faults.add("the subscription lacks \(name)", losesChanges: true)
    }
    if try !flushes(connection) {
      faults.add("the subscription commits without a flush", losesChanges: false)
    }
    for table in RegionTables.replicated where !subscribed.contains(table) {
      // A table that a later version of the schema has added is empty until it is copied.
      faults.add(
        "the subscription lacks \(table)", losesChanges: try Self.hasRows(table, connection))
    }
    return faults
  }

  /// Whether what its subscription commits is flushed, which subscriptions do not by default. A worker of PostgreSQL that
  /// follows another one confirms to the centre what that one has committed. If the region's server crashes before it
  /// is flushed, the centre does not send it again, and it is missing here for ever.
  func flushes(_ connection: Connection) throws(PostgresError) -> Bool {
    try connection.row(
      """
      select not exists (select from pg_subscription where subname = \(slot) and subsynccommit = 'off'
         and subdbid = (select oid from pg_database where datname = current_database()))
      """, as: Bool.self)
  }

  private static func hasRows(_ table: String, _ connection: Connection) throws -> Bool {
    try connection.row("select exists (select from \(sql: SQL(trusted: table)))", as: Bool.self)
  }

  /// Drops those of the slots that there are. Their readers have been told to end, and may need a moment.
  static func drop(_ slots: [String], at centre: Connection) throws {
    let deadline = Deadline(after: .seconds(60))
    while true {
      do throws(PostgresError) {
        try centre.execute(
          """
          select pg_terminate_backend(active_pid) from pg_replication_slots
           where slot_name = any (\(slots)::text[]) and active
          """)
        try centre.execute(
          """
          select pg_drop_replication_slot(slot_name) from pg_replication_slots
           where slot_name = any (\(slots)::text[])
          """)
        return
      } catch {
        // The slot is in use.
        guard error.sqlState == "55006", !deadline.hasPassed else { throw error }
      }
      _ = Connection.pause(for: .milliseconds(50))
    }
  }

  /// Throws unless the connected role is a superuser, as subscriptions and slots need.
  package static func requireSuperuser(_ connection: Connection) throws {
    guard
      try !connection.row(
        "select rolsuper from pg_roles where rolname = current_user", as: Bool.self)
    else { return }
    throw StoreError(
      .conflict, "the role that is connected to \(connection.label) is no superuser",
      hint:
        "Connect as a superuser of the regional server, who alone may make subscriptions in every version of PostgreSQL."
    )
  }

  /// The regions that a migration of their centre would leave behind: those that have a slot, and whose schema is older
  /// than `version`.
  static func older(than version: Int, of centre: Connection) throws(PostgresError) -> [String] {
    guard
      try centre.row(
        "select to_regclass('quake.regional_database') is not null", as: Bool.self)
    else { return [] }
    return try centre.rows(
      """
      select d.name from quake.regional_database d
       where not d.is_here and d.schema_version < \(version)
         and exists (select from pg_replication_slots s
                      where s.slot_name = \(RegionTables.prefix) || d.name and s.database = current_database())
       order by d.name
      """, as: String.self)
  }
}
