internal import Basics
package import Postgres
internal import QuakeModel

/// A database as a region, or as the centre of regions.
package struct Region: Sendable {
  /// The region's name.
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
