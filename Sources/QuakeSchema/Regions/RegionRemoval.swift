package import Postgres

/// Makes a region an ordinary database, which keeps its events and its history.
package struct RegionRemoval {
  private let region: Connection
  private let own: Region

  /// The removal of a region over a connection to it, as a superuser.
  package init(_ own: Region, over connection: Connection) {
    self.own = own
    region = connection
  }

  /// Drops the subscription, and lets the database number its own transactions.
  package func leave() throws {
    try Region.requireSuperuser(region)
    try region.transaction {
      if own.isSubscribed { try RegionMaker.unsubscribe(own.slot, over: region) }
      try region.execute("delete from quake.regional_database where is_here")
      try region.execute(
        """
        do $$
        declare
          t regclass;
        begin
          for t in select g.tgrelid::regclass from pg_trigger g
                    where g.tgname = 'region_10_refuse_write' and g.tgenabled <> 'D' loop
            execute format('alter table %s disable trigger region_10_refuse_write', t);
          end loop;
        end $$
        """)
      // Numbers follow those of the centre: the nonces tell its next transactions from those of this database.
      try region.execute(
        """
        select setval('quake.token', greatest(m.token, 1), m.token > 0),
               setval('quake.transaction_id', greatest(m.id, 1), m.id > 0)
          from (select coalesce(max(token), 0) as token, coalesce(max(transaction_id), 0) as id
                  from quake.change_transaction) m
        """)
      for table in ["quake_version", "import", "edit"] {
        try region.execute(
          """
          select setval(pg_get_serial_sequence(\("quake." + table), 'id'), greatest(max(id), 1), max(id) is not null)
            from quake.\(identifier: table)
          """)
      }
    }
  }

  /// The slots of the region at its centre: that of the subscription, and those of copies that were not finished. To be
  /// read before `leave`.
  package func slots() throws(PostgresError) -> [String] {
    [own.slot]
      + (try region.rows(
        """
        select format('pg_%s_sync_%s_%s', s.oid, r.srrelid, (select system_identifier from pg_control_system()))
          from pg_subscription s join pg_subscription_rel r on r.srsubid = s.oid
         where s.subname = \(own.slot)
        """, as: String.self))
  }

  /// Drops slots and the region's entry at the centre; after its last region, also the publications.
  ///
  /// - Parameter slots: As `slots` returned them.
  package func forget(at centre: Connection, slots: [String]) throws {
    try Region.drop(slots, at: centre)
    try centre.transaction {
      try centre.execute(
        "delete from quake.regional_database where name = \(own.name) and not is_here")
      guard try Region.names(of: centre).isEmpty else { return }
      for publication in RegionTables.publications {
        try centre.execute("drop publication if exists \(identifier: publication.name)")
      }
    }
  }
}
