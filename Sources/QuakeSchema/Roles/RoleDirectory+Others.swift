import Postgres

/// What other roles than Quake's may do that reaches further than a privilege on an object.
extension RoleDirectory {
  /// Parameters that switch triggers, and so the history, off.
  static let dangerousParameters = ["allow_system_table_mods", "session_replication_role"]

  /// The roles, except superusers, that may set such a parameter: the role, empty for PUBLIC; the parameter; and the
  /// privilege, SET or ALTER SYSTEM. There is none before version 15.
  static func readParameters(
    _ connection: Connection
  ) throws(PostgresError) -> [(role: String, parameter: String, privilege: String)] {
    guard connection.serverVersion >= 150000 else { return [] }
    return try connection.rows(
      """
      select coalesce(r.rolname::text, ''), p.parname, e.privilege_type
        from pg_parameter_acl p cross join aclexplode(p.paracl) e left join pg_roles r on r.oid = e.grantee
       where p.parname = any (\(dangerousParameters)::text[]) and r.rolsuper is not true
       order by 1, 2, 3
      """, as: (String, String, String).self
    ).map { (role: $0, parameter: $1, privilege: $2) }
  }

  /// The roles, except superusers and the owner of the database, that can make themselves members of Quake's roles, with
  /// the reason.
  static func readCreators(
    _ connection: Connection, _ names: RoleNames
  ) throws(PostgresError) -> [(role: String, reason: String)] {
    // Since version 16, CREATEROLE alone is not enough.
    let may: SQL =
      connection.serverVersion < 160000
      ? "case when r.rolcreaterole then 'has CREATEROLE' end"
      : """
      (select 'has the admin option for ' || min(g.rolname) from pg_auth_members a join pg_roles g on g.oid = a.roleid
        where a.member = r.oid and a.admin_option and g.rolname = any (\(names.all)::text[]))
      """
    return try connection.rows(
      """
      select c.rolname, c.reason
        from (select r.rolname::text, \(sql: may) as reason from pg_roles r
               where not r.rolsuper and r.rolname !~ '^pg_' and r.rolname <> all (\(names.all)::text[])
                 and r.oid <> (select d.datdba from pg_database d where d.datname = current_database())) c
       where c.reason is not null order by 1
      """, as: (String, String).self
    ).map { (role: $0, reason: $1) }
  }
}
