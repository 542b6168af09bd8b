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

  /// The roles, except superusers, Quake's and PostgreSQL's own, that read all tables of the server.
  static func readReaders(
    _ connection: Connection, _ names: RoleNames
  ) throws(PostgresError) -> [String] {
    try connection.rows(
      """
      select r.rolname::text from pg_roles r, pg_roles g
       where g.rolname = 'pg_read_all_data' and pg_has_role(r.oid, g.oid, 'usage')
         and not r.rolsuper and r.rolname !~ '^pg_' and r.rolname <> all (\(names.all)::text[])
       order by 1
      """, as: String.self)
  }

  /// A privilege that other roles will have on new objects of a kind.
  struct DefaultPrivilege {
    /// The role that makes the objects.
    var creator: String
    /// The role's name; empty for PUBLIC.
    var grantee: String
    var privilege: String
    /// `tables`, `sequences` or `functions`.
    var kind: String
    var revocation: String
  }

  /// The default privileges of the roles that may make objects in the schema. What PUBLIC may do with every function is
  /// PostgreSQL's own default.
  static func readDefaults(
    _ connection: Connection, _ names: RoleNames
  ) throws(PostgresError) -> [DefaultPrivilege] {
    try connection.rows(
      """
      select o.rolname, coalesce(g.rolname, ''), e.privilege_type, k.kind,
             format('alter default privileges for role %I %srevoke %s on %s from %s', o.rolname,
                    case when d.defaclnamespace <> 0 then 'in schema quake ' else '' end, lower(e.privilege_type),
                    k.kind, coalesce(quote_ident(g.rolname), 'public'))
        from pg_default_acl d join pg_roles o on o.oid = d.defaclrole
        join (values ('r', 'tables'), ('S', 'sequences'), ('f', 'functions')) k (letter, kind)
          on k.letter = d.defaclobjtype::text
       cross join aclexplode(d.defaclacl) e left join pg_roles g on g.oid = e.grantee
       where d.defaclnamespace in (0::oid, to_regnamespace('quake')::oid)
         and has_schema_privilege(d.defaclrole, to_regnamespace('quake'), 'create')
         and e.grantee <> d.defaclrole and g.rolsuper is not true
         and coalesce(g.rolname, '') <> all (\(names.all)::text[])
         and not (e.grantee = 0 and d.defaclobjtype = 'f')
       order by 1, 2, 4, 3
      """, as: (String, String, String, String, String).self
    ).map {
      DefaultPrivilege(creator: $0, grantee: $1, privilege: $2, kind: $3, revocation: $4)
    }
  }
}
