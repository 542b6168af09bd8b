package import Postgres
internal import QuakeModel

/// Makes a database a region, or corrects what a region lacks.
package struct RegionMaker {
  package enum Outcome: Sendable, Equatable {
    /// The database has become a region; the copy has begun.
    case made
    /// It was a region before.
    case checked
  }

  private let name: String
  private let region: Connection
  private let centre: Connection
  private let conninfo: String
  private let copiesAnew: Bool
  private var slot: String { RegionTables.prefix + name }

  /// Failover slots exist since version 17.
  private var hasFailover: Bool { centre.serverVersion >= 170_000 }

  /// - Parameters:
  ///   - name: The region's name: a lower-case letter, then at most 39 lower-case letters, digits and underscores.
  ///   - region: The region's database, as a superuser.
  ///   - centre: The centre's database.
  ///   - conninfo: How the region's server connects to the centre.
  ///   - copiesAnew: Whether to remove the events and the history that the region has, and copy the centre's.
  package init(
    _ name: String, region: Connection, centre: Connection, conninfo: String, copiesAnew: Bool
  ) {
    self.name = name
    self.region = region
    self.centre = centre
    self.conninfo = conninfo
    self.copiesAnew = copiesAnew
  }

  /// Makes publications and slot at the centre, and the subscription in the region.
  ///
  /// - Throws: `StoreError` of kind `conflict` or `schema` if that is not possible, before anything is changed;
  ///   `PostgresError`.
  package func make() throws -> Outcome {
    let present = try check()
    if let present, present.isSubscribed {
      guard try !present.isReadElsewhere(than: region, at: centre) else {
        throw present.isCopy(region)
      }
    }
    if let present, present.isSubscribed, !copiesAnew {
      try refuseLosses(present)
      try publish()
      try correct(present)
      try report()
      return .checked
    }
    try refuseContents(present)
    try publish()
    if present?.isSubscribed == true {
      // Before its slot is dropped, or its worker would connect again.
      try region.transaction { try Self.unsubscribe(slot, over: region) }
    }
    try Region.drop([slot], at: centre)
    try createSlot()
    do {
      try report()
      try subscribe()
    } catch {
      try? Region.drop([slot], at: centre)
      _ = try? centre.execute(
        "delete from quake.regional_database where name = \(name) and not is_here")
      throw error
    }
    return .made
  }

  // MARK: - Checks

  /// Throws if the two databases cannot be region and centre. Returns the region that the database is already.
  private func check() throws -> Region? {
    try Region.requireSuperuser(region)
    for database in [region, centre] {
      guard database.serverVersion >= 150_000 else {
        throw StoreError(
          .conflict, "the server of \(database.label) is older than PostgreSQL 15",
          hint: "Regions need version 15 or later at both ends.")
      }
      guard try !database.row("select pg_is_in_recovery()", as: Bool.self) else {
        throw StoreError(
          .conflict, "the server of \(database.label) is a hot standby", hint: "Name its primary.")
      }
    }
    let identity: SQL = """
      select (select system_identifier from pg_control_system()) || ' ' || oid
        from pg_database where datname = current_database()
      """
    guard try region.row(identity, as: String.self) != centre.row(identity, as: String.self) else {
      throw StoreError(
        .conflict, "\(region.label) cannot be its own region",
        hint: "--database names the region's database, and --centre that of the centre.")
    }
    try checkSchemas()
    guard try centre.row("select current_setting('wal_level')", as: String.self) == "logical" else {
      throw StoreError(
        .conflict, "wal_level of the centre's server is not logical",
        hint: "Run \"alter system set wal_level = logical\" there, and restart that server.")
    }
    if let other = try Region.own(of: centre) {
      throw StoreError(
        .conflict, "\(centre.label) is itself a region, \"\(other.name)\"",
        hint: "Name the centre of that region: a region of a region would not notify its readers.")
    }
    if let other = try Region.names(of: region).first {
      throw StoreError(
        .conflict, "\(region.label) is the centre of region \"\(other)\"",
        hint:
          "A region has no regions: drop them first, or take another database. If that region is gone: delete from quake.regional_database."
      )
    }
    let present = try Region.own(of: region)
    if let present, present.name != name {
      throw StoreError(
        .conflict, "\(region.label) is region \"\(present.name)\" already",
        hint: "Use that name, or run \"quake-admin region drop\" first.")
    }
    return present
  }

  private func checkSchemas() throws {
    let (here, there) = (
      try Migrator.version(of: region) ?? 0, try Migrator.version(of: centre) ?? 0
    )
    guard there >= RegionTables.firstSchema else {
      throw StoreError(
        .schema,
        "the schema of the centre \(centre.label) is at version \(there); regions need \(RegionTables.firstSchema)",
        hint: "Run \"quake-admin migrate\" on it.")
    }
    guard here >= there else {
      throw StoreError(
        .schema,
        "the schema of region \(region.label) is at version \(here), that of its centre at \(there)",
        hint: "Upgrade the programs of the region, and run \"quake-admin migrate\" there.")
    }
  }

  /// Throws if the copy would meet events or history, or if another database may read the slot.
  private func refuseContents(_ present: Region?) throws {
    let isEmpty = try region.row(
      """
      select not exists (select from quake.quake) and not exists (select from quake.change_transaction)
        and not exists (select from quake.import)
      """, as: Bool.self)
    guard isEmpty || copiesAnew else {
      throw StoreError(
        .conflict, "\(region.label) has events or a history of its own",
        detail: present == nil
          ? nil
          : "It is region \"\(name)\", whose subscription is gone; what was committed since is missing.",
        hint:
          "--anew removes events and history of this database, and copies those of the centre. Cursors stay, and are valid if the centre's history has them."
      )
    }
    let isRead = try centre.firstRow(
      "select active or database <> current_database() from pg_replication_slots where slot_name = \(slot)",
      as: Bool.self)
    guard let isRead, !(present?.isSubscribed ?? false) else { return }
    guard !isRead, copiesAnew else {
      throw StoreError(
        .conflict, "the centre has a slot \(slot)\(isRead ? ", which is in use" : "")",
        hint: isRead
          ? "Another region has this name: choose another one."
          : "If no other region has this name, --anew replaces it.")
    }
  }

  /// Throws if changes of the centre may have passed the region by.
  private func refuseLosses(_ present: Region) throws {
    let again = "Add --anew: it removes events and history of the region, and copies them again."
    let state = try centre.firstRow(
      """
      select coalesce(wal_status, '') <> 'lost', to_jsonb(s) ->> 'invalidation_reason',
             coalesce(confirmed_flush_lsn > pg_current_wal_lsn(), false)
        from pg_replication_slots s where slot_name = \(slot) and database = current_database()
      """, as: (Bool, String?, Bool).self)
    guard let (isWhole, invalidation, isAhead) = state else {
      throw StoreError(
        .conflict, "the centre \(centre.label) has no slot \(slot)",
        detail:
          "It was dropped, or lost in a failover. What was committed since is not known here.",
        hint: again)
    }
    guard isWhole else {
      throw StoreError(
        .conflict, "slot \(slot) has lost WAL that the region needs",
        detail: "The reason: \(Region.reason(of: invalidation)).", hint: again)
    }
    guard !isAhead else {
      throw StoreError(
        .conflict, "region \"\(name)\" has read more of its centre than the centre has",
        detail:
          "The centre was restored, or has lost transactions in a failover. The region skips what is committed there now.",
        hint: again)
    }
    if let gap = try Region.gap(in: region), try Region.gap(in: centre)?.message != gap.message {
      throw StoreError(
        .conflict, "changes of the centre are missing in region \"\(name)\"",
        detail: [gap.message, gap.detail].compactMap(\.self).joined(separator: ": "), hint: again)
    }
    let faults = try present.faults(over: region, at: centre)
    guard !faults.losesChanges else {
      throw StoreError(
        .conflict, "changes of the centre may be missing in region \"\(name)\"",
        detail: faults.descriptions.joined(separator: "; ") + ".", hint: again)
    }
    if let contradiction = try present.contradiction(over: region, at: centre) {
      throw StoreError(
        .conflict, "region \"\(name)\" does not have the history of its centre",
        detail: "\(contradiction.prefix(1).uppercased())\(contradiction.dropFirst()).", hint: again)
    }
  }

  // MARK: - The centre

  /// Makes the publications, or gives them the tables and operations of this program.
  private func publish() throws {
    try centre.transaction {
      for publication in RegionTables.publications {
        let tables = RegionTables.list(publication.tables)
        let present = try centre.firstRow(
          """
          select concat_ws(', ', case when pubinsert then 'insert' end, case when pubupdate then 'update' end,
                           case when pubdelete then 'delete' end, case when pubtruncate then 'truncate' end),
                 array(select format('%s.%s', t.schemaname, t.tablename) from pg_publication_tables t
                        where t.pubname = p.pubname order by 1)
            from pg_publication p where pubname = \(publication.name)
          """, as: (String, [String]).self)
        let operations = SQL(trusted: "(publish = '\(publication.operations)')")
        if let present {
          if Set(present.1) != Set(publication.tables) {
            try centre.execute(
              "alter publication \(identifier: publication.name) set table \(sql: tables)")
          }
          if present.0 != publication.operations {
            try centre.execute(
              "alter publication \(identifier: publication.name) set \(sql: operations)")
          }
        } else {
          try centre.execute(
            """
            create publication \(identifier: publication.name) for table \(sql: tables) with \(sql: operations)
            """)
        }
      }
    }
  }

  private func createSlot() throws {
    let failover: SQL = hasFailover ? ", failover => true" : ""
    do throws(PostgresError) {
      try centre.execute(
        "select pg_create_logical_replication_slot(\(slot), 'pgoutput'\(sql: failover))")
    } catch {
      guard error.kind == .timeout else { throw error }
      throw StoreError(
        .locked, "could not make slot \(slot) at the centre: a transaction there does not end",
        hint:
          "\"quake-admin doctor\" at the centre lists long transactions. Repeat the command with --anew."
      )
    }
  }

  /// Tells the centre which schema the region has, so that the centre is not migrated first.
  private func report() throws {
    let version = try Migrator.version(of: region) ?? 0
    try centre.execute(
      """
      insert into quake.regional_database (name, is_here, schema_version) values (\(name), false, \(version))
      on conflict (name) do update set schema_version = excluded.schema_version
      """)
  }

  // MARK: - The region

  /// Removes what the copy would meet, and subscribes, in one transaction.
  private func subscribe() throws {
    try region.transaction {
      try hideStatements(with: conninfo)
      // The triggers of the tables do not fire, so that the history does not record it.
      try region.execute("set local session_replication_role = replica")
      try region.execute(
        """
        truncate \(sql: RegionTables.list(RegionTables.replicated)), quake.import_reject, quake.import_body,
                 quake.absence, quake.association_pending
        """)
      let version = try Migrator.version(of: region) ?? 0
      try region.execute(
        """
        insert into quake.regional_database (name, is_here, schema_version) values (\(name), true, \(version))
        on conflict (name) do update set schema_version = excluded.schema_version
        """)
      try setTriggers()
      let failover: SQL = hasFailover && region.serverVersion >= 170_000 ? ", failover = true" : ""
      // Without streaming, the centre's keepalive tells that everything before it has been applied. With flushes: see
      // `Region.faults`.
      try region.execute(
        """
        do $$ begin
          execute format('create subscription \(identifier: slot) connection %L publication \(sql: publications)
            with (create_slot = false, slot_name = \(identifier: slot), streaming = off, synchronous_commit = on\(sql: failover))',
            current_setting('quake.centre'));
        end $$
        """)
    }
  }

  private var publications: SQL {
    SQL(trusted: RegionTables.publications.map(\.name).joined(separator: ", "))
  }

  /// Gives the subscription what this program makes: the connection, all tables, the triggers.
  private func correct(_ present: Region) throws {
    let before = try present.conninfo(over: region)
    try region.transaction {
      try connect(to: conninfo)
      try region.execute("alter subscription \(identifier: slot) enable")
      if try !present.flushes(region) {
        try region.execute("alter subscription \(identifier: slot) set (synchronous_commit = on)")
      }
      try region.execute(
        "update quake.regional_database set schema_version = \(try Migrator.version(of: region) ?? 0) where is_here"
      )
      try setTriggers()
    }
    // Not in a transaction, since it begins the copies of new tables.
    do {
      try region.execute("alter subscription \(identifier: slot) refresh publication")
    } catch {
      // The region's server cannot connect that way, and goes on as before.
      if let before { try region.transaction { try connect(to: before) } }
      throw error
    }
  }

  /// Tells the subscription how to connect to the centre, in the transaction that has begun.
  private func connect(to conninfo: String) throws {
    try hideStatements(with: conninfo)
    try region.execute(
      """
      do $$ begin
        execute format('alter subscription \(identifier: slot) connection %L', current_setting('quake.centre'));
      end $$
      """)
  }

  /// Keeps the password of the centre out of the log of the region's server, and of the list of its sessions, in this
  /// transaction.
  private func hideStatements(with conninfo: String) throws {
    // A statement of its own: it is logged as the settings before it say.
    try region.execute(
      """
      select set_config('log_min_messages', 'fatal', true), set_config('log_statement', 'none', true),
             set_config('log_min_duration_statement', '-1', true)
      """)
    try region.execute("select set_config('quake.centre', \(conninfo), true)")
  }

  /// Enables what a region needs, whatever somebody has done to the triggers.
  private func setTriggers() throws {
    try region.execute(
      """
      do $$
      declare
        t record;
      begin
        for t in select g.tgrelid::regclass as name, g.tgname, g.tgname = 'region_10_refuse_write' as refuses
                   from pg_trigger g
                  where g.tgname ~ '^region_[0-9]+_' and g.tgrelid::regclass::text ~ '^quake\\.'
                    and g.tgenabled <> case g.tgname when 'region_10_refuse_write' then 'O'::"char" else 'R' end
        loop
          execute format('alter table %s enable %s trigger %I', t.name,
                         case when t.refuses then '' else 'replica' end, t.tgname);
        end loop;
      end $$
      """)
  }

  /// Removes a subscription in the transaction that has begun, and leaves its slot.
  static func unsubscribe(_ subscription: String, over region: Connection) throws {
    try region.execute("alter subscription \(identifier: subscription) disable")
    try region.execute("alter subscription \(identifier: subscription) set (slot_name = none)")
    try region.execute("drop subscription \(identifier: subscription)")
  }
}
