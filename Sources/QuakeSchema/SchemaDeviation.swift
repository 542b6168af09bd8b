package import Postgres

/// Something that was done to the objects of the schema, or to a setting, that no migration does: it keeps changes out of
/// the history, hides rows, or has code of others run with the rights of those who write.
package struct SchemaDeviation: Sendable, Equatable {
  /// What is different, as a phrase.
  package let text: String
  /// The table, the function or the setting.
  package let object: String
  /// The statement that undoes it, or a comment of SQL that says what to do.
  package let statement: String
  /// Whether it may be on purpose, and does no harm: an administrator's own index, table or function.
  package var isNote = false

  /// The deviations of the connected database, from its catalogs.
  package static func all(over connection: Connection) throws -> [SchemaDeviation] {
    try objects(over: connection) + rows(settings, over: connection)
  }

  /// What `RoleCheck` reports in more detail, for those who do not know the names of Quake's roles: rights that nobody
  /// but the owner of the schema needs.
  package static func rights(over connection: Connection) throws(PostgresError) -> [SchemaDeviation]
  {
    try rows(owners, over: connection) + rows(grants, over: connection)
  }

  private static func rows(
    _ query: SQL, over connection: Connection
  ) throws(PostgresError) -> [SchemaDeviation] {
    try connection.rows(query, as: (String, String, String).self).map {
      SchemaDeviation(text: $0, object: $1, statement: $2)
    }
  }

  /// Compares the objects with those that the program's migrations make.
  private static func objects(
    over connection: Connection
  ) throws -> [SchemaDeviation] {
    let known = EmbeddedMigrations.count
    // A role that may not read the version can compare all the same.
    if try mayReadVersion(over: connection), let version = try Migrator.version(of: connection),
      version != known
    {
      return [
        SchemaDeviation(
          text:
            "the schema is at version \(version), and was not compared with version \(known) of this program",
          object: "quake",
          statement: version < known ? "-- quake-admin migrate" : "-- use a newer program",
          isNote: version > known)
      ]
    }
    let present = try SchemaListing(of: connection)
    return present.deviations(
      from: .expected, allowing: try PostGIS.listing(over: connection))
  }

  private static func mayReadVersion(over connection: Connection) throws(PostgresError) -> Bool {
    try connection.row(
      """
      select exists (select from pg_class c
                      where c.relnamespace = to_regnamespace('quake') and c.relname = 'migration'
                        and has_schema_privilege(c.relnamespace, 'usage') and has_table_privilege(c.oid, 'select'))
      """, as: Bool.self)
  }

  /// Owners of single objects.
  private static let owners: SQL = """
    with owned (name, owner) as (
      select case c.relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end || format(' quake.%I', c.relname),
             c.relowner
        from pg_class c
       where c.relnamespace = to_regnamespace('quake') and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
         -- The sequence of a column belongs to the owner of the table.
         and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid
                            and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i'))
      union all
      select format('function quake.%I(%s)', p.proname, oidvectortypes(p.proargtypes)), p.proowner
        from pg_proc p where p.pronamespace = to_regnamespace('quake')
    )
    select format('%s belongs to role %s, not to the owner of the schema', o.name, r.rolname),
           substr(o.name, strpos(o.name, ' ') + 1), format('alter %s owner to %I', o.name, pg_get_userbyid(n.nspowner))
      from owned o join pg_roles r on r.oid = o.owner
      join pg_namespace n on n.nspname = 'quake' and n.nspowner <> o.owner
     where not r.rolsuper
     order by o.name
    """

  /// Privileges that none of Quake's roles has. MAINTAIN is one since version 17.
  private static let grants: SQL = """
    with object (word, name, label, owner, acl) as (
      select 'schema', 'quake', 'schema quake', n.nspowner, n.nspacl from pg_namespace n where n.nspname = 'quake'
      union all
      select 'table', format('quake.%I', c.relname), format('table quake.%I', c.relname), c.relowner, c.relacl
        from pg_class c
       where c.relnamespace = to_regnamespace('quake') and c.relkind in ('r', 'p')
    )
    select format('%s has %s on %s', coalesce('role ' || r.rolname, 'PUBLIC'), e.privilege_type, o.label), o.name,
           format('revoke %s on %s %s from %s', lower(e.privilege_type), o.word, o.name,
                  coalesce(quote_ident(r.rolname), 'public'))
      from object o cross join lateral aclexplode(o.acl) e left join pg_roles r on r.oid = e.grantee
     where e.grantee <> o.owner and r.rolsuper is not true
       and e.privilege_type in ('CREATE', 'TRUNCATE', 'REFERENCES', 'TRIGGER', 'MAINTAIN')
     order by o.name, 1
    """

  /// Settings of roles and of the database with which nothing is recorded, or as if somebody else had done it.
  private static let settings: SQL = """
    select format('%s sets %s', case when s.setrole = 0 and s.setdatabase = 0 then 'alter role all'
                                     when s.setrole = 0 then 'the database'
                                     else 'role ' || pg_get_userbyid(s.setrole) end, c.entry),
           split_part(c.entry, '=', 1),
           format('alter %s%s reset %s',
                  case when s.setrole = 0 and s.setdatabase = 0 then 'role all'
                       when s.setrole = 0 then format('database %I', current_database())
                       else format('role %I', pg_get_userbyid(s.setrole)) end,
                  case when s.setrole <> 0 and s.setdatabase <> 0 then format(' in database %I', current_database())
                       else '' end, split_part(c.entry, '=', 1))
      from pg_db_role_setting s cross join unnest(s.setconfig) c (entry)
     where s.setdatabase in (0, (select d.oid from pg_database d where d.datname = current_database()))
       and (c.entry ~ '^quake\\.' or c.entry ~ '^session_replication_role=' and c.entry !~ '=origin$')
     order by 1
    """
}
