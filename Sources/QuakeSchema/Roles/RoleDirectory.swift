import Postgres

/// The roles, privileges and settings of a database, read from its catalogs in one transaction.
struct RoleDirectory {
  /// The present state of one of Quake's roles.
  struct Entry {
    var isMade: Bool
    var connectionLimit: Int64
    /// Descriptions of its server-wide attributes that none of Quake's roles needs.
    var excessive: [String]
    var settings: Set<String>
  }

  /// A privilege on an object, or on one of its columns, that was granted to a role other than its owner.
  struct Grant: Hashable {
    var object: SecuredObject
    var column: String?
    var privilege: String
    /// The role's name; empty for PUBLIC.
    var grantee: String
  }

  /// The connected role and its attributes.
  struct Caller {
    var name: String
    var isSuperuser: Bool
    var createsRoles: Bool
    var ownsDatabase: Bool
    var isOwnerMember: Bool
    var mayLimitFiles: Bool
    var mayGrantMonitor: Bool
  }

  let database: String
  let databaseOwner: String
  let caller: Caller
  let roles: [Role: Entry]
  /// The owners of the existing objects.
  let owners: [SecuredObject: String]
  /// Sequences that belong to a column, whose owner follows that of the table.
  let grants: Set<Grant>
  /// Grants to Quake's roles with the grant option.
  let grantable: Set<Grant>
  /// Quake's roles that are members of other roles: the member and the group.
  let memberships: [(member: String, group: String)]
  /// Other roles that may change objects of the history.
  let strangers: [(role: String, object: SecuredObject, privilege: String)]
  /// Other roles that have the privileges of the owner.
  let ownerMembers: [String]
  /// The other databases of the server in which the roles are in use.
  let otherDatabases: [OtherDatabase]

  /// The comment that marks a role as created by `RoleMaker`.
  static func comment(_ role: Role) -> String {
    "made by \"quake-admin roles create\": \(role.purpose)"
  }

  /// Settings for the open transaction: the search path excludes the caller's schemas, and a wait for a lock
  /// fails after 10 s.
  static let begin: SQL = """
    set local search_path = pg_catalog, pg_temp;
    set local standard_conforming_strings = on;
    set local lock_timeout = '10s';
    """

  init(_ connection: Connection, names: RoleNames) throws {
    let ours = Parameter.array(names.all)
    let about = try connection.execute(
      """
      select d.datname::text, o.rolname::text, u.rolname::text, u.rolsuper, u.rolcreaterole,
             pg_has_role(d.datdba, 'usage'),
             coalesce((select pg_has_role(r.oid, 'usage') from pg_roles r where r.rolname = $1), false),
             coalesce((select pg_has_role(r.oid, 'usage with admin option')
                         from pg_roles r where r.rolname = 'pg_monitor'), false),
             exists (select from pg_proc where proname = 'has_parameter_privilege')
        from pg_database d join pg_roles o on o.oid = d.datdba, pg_roles u
       where d.datname = current_database() and u.rolname = current_user
      """, [.text(names.name(.owner))])
    database = about.text(0, 0) ?? ""
    databaseOwner = about.text(0, 1) ?? ""
    let isSuperuser = about.bool(0, 3) == true
    let createsRoles = about.bool(0, 4) == true
    var mayLimitFiles = isSuperuser
    // Since version 15, a superuser may allow other roles to set it.
    if !isSuperuser, about.bool(0, 8) == true {
      mayLimitFiles =
        try connection.execute(
          "select has_parameter_privilege($1, 'set')", [.text(RoleSettings.privileged)]
        ).bool(0, 0) == true
    }
    caller = Caller(
      name: about.text(0, 2) ?? "", isSuperuser: isSuperuser, createsRoles: createsRoles,
      ownsDatabase: about.bool(0, 5) == true, isOwnerMember: about.bool(0, 6) == true,
      mayLimitFiles: mayLimitFiles,
      // Up to version 15, a role with CREATEROLE may grant any role except a superuser.
      mayGrantMonitor: isSuperuser || about.bool(0, 7) == true
        || createsRoles && connection.serverVersion < 160000)

    roles = try Self.readRoles(connection, names, ours)
    (owners, grants, grantable) = try Self.readObjects(connection)
    let memberships = try connection.execute(
      """
      select m.rolname::text, g.rolname::text
        from pg_auth_members a join pg_roles m on m.oid = a.member join pg_roles g on g.oid = a.roleid
       where m.rolname = any ($1::text[]) order by 1, 2
      """, [ours])
    self.memberships = (0..<memberships.rowCount).map {
      (memberships.text($0, 0) ?? "", memberships.text($0, 1) ?? "")
    }
    strangers = try Self.readStrangers(connection, names, ours)
    let members = try connection.execute(
      """
      select r.rolname::text from pg_roles r, pg_roles o
       where o.rolname = $1 and r.oid <> o.oid and not r.rolsuper and r.rolname !~ '^pg_'
         and r.oid <> (select d.datdba from pg_database d where d.datname = current_database())
         and pg_has_role(r.oid, o.oid, 'usage') order by 1
      """, [.text(names.name(.owner))])
    ownerMembers = (0..<members.rowCount).compactMap { members.text($0, 0) }
    otherDatabases = try Self.otherDatabases(using: names.all, over: connection)
  }

  /// Another database of the server in which some of the roles own objects or have privileges.
  struct OtherDatabase {
    var name: String
    /// The names of these roles.
    var roles: [String]
    /// Whether one of them owns an object there, or the database.
    var hasObjects: Bool
  }

  /// The other databases in which roles of these names are in use, in the order of their names.
  static func otherDatabases(
    using roles: [String], over connection: Connection
  ) throws -> [OtherDatabase] {
    let rows = try connection.execute(
      """
      select d.datname::text, string_agg(distinct r.rolname, ','), bool_or(s.deptype = 'o')
        from pg_shdepend s join pg_roles r on r.oid = s.refobjid
        join pg_database d
          on d.oid = s.dbid or s.dbid = 0 and s.classid = 'pg_database'::regclass and s.deptype = 'o'
                               and d.oid = s.objid
       where s.refclassid = 'pg_authid'::regclass and r.rolname = any ($1::text[])
         and d.datname <> current_database()
       group by 1 order by 1
      """, [.array(roles)])
    return (0..<rows.rowCount).map { row in
      OtherDatabase(
        name: rows.text(row, 0) ?? "",
        roles: (rows.text(row, 1) ?? "").split(separator: ",").map(String.init),
        hasObjects: rows.bool(row, 2) == true)
    }
  }

  private static func readRoles(
    _ connection: Connection, _ names: RoleNames, _ ours: Parameter
  ) throws -> [Role: Entry] {
    let rows = try connection.execute(
      """
      select r.rolname::text, coalesce(shobj_description(r.oid, 'pg_authid'), ''), r.rolconnlimit,
             concat_ws(',', case when r.rolsuper then 'is a superuser' end,
                            case when r.rolcreaterole then 'may create roles' end,
                            case when r.rolcreatedb then 'may create databases' end,
                            case when r.rolreplication then 'may replicate' end,
                            case when r.rolbypassrls then 'passes over row security' end),
             (select string_agg(split_part(c.entry, '=', 1), ',')
                from pg_db_role_setting s cross join unnest(s.setconfig) c (entry)
               where s.setrole = r.oid
                 and s.setdatabase in (0, (select d.oid from pg_database d
                                            where d.datname = current_database())))
        from pg_roles r where r.rolname = any ($1::text[])
      """, [ours])
    var roles: [Role: Entry] = [:]
    for row in 0..<rows.rowCount {
      guard let role = names.role(named: rows.text(row, 0) ?? "") else { continue }
      func words(_ column: Int) -> [String] {
        (rows.text(row, column) ?? "").split(separator: ",").map(String.init)
      }
      roles[role] = Entry(
        isMade: rows.text(row, 1) == comment(role),
        connectionLimit: rows.integer(row, 2) ?? -1, excessive: words(3),
        settings: Set(words(4)))
    }
    return roles
  }

  /// The objects, each with its owner and the grants on it: one row for each grant, or one without.
  private static let objects: SQL = """
    with object (kind, name, attribute, owner, acl) as (
      select 'database', ''::text, null::text, d.datdba, coalesce(d.datacl, acldefault('d', d.datdba))
        from pg_database d where d.datname = current_database()
      union all
      select 'schema', n.nspname::text, null, n.nspowner, coalesce(n.nspacl, acldefault('n', n.nspowner))
        from pg_namespace n where n.nspname in ('quake', 'public')
      union all
      select case c.relkind when 'S' then 'sequence' when 'v' then 'view' else 'table' end,
             'quake.' || c.relname, null, c.relowner,
             coalesce(c.relacl, acldefault(case c.relkind when 'S' then 's' else 'r' end::"char", c.relowner))
        from pg_class c
       where c.relnamespace = to_regnamespace('quake') and c.relkind in ('r', 'p', 'v', 'S')
      union all
      select case c.relkind when 'v' then 'view' else 'table' end,
             'quake.' || c.relname, a.attname, c.relowner, a.attacl
        from pg_class c join pg_attribute a on a.attrelid = c.oid
       where c.relnamespace = to_regnamespace('quake') and c.relkind in ('r', 'p', 'v')
         and not a.attisdropped and a.attacl is not null
      union all
      select 'type', 'quake.' || t.typname, null, t.typowner, coalesce(t.typacl, acldefault('T', t.typowner))
        from pg_type t join pg_class c on c.oid = t.typrelid and c.relkind = 'c'
       where t.typnamespace = to_regnamespace('quake')
      union all
      select 'function', 'quake.' || p.proname || '(' || oidvectortypes(p.proargtypes) || ')', null,
             p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
        from pg_proc p where p.pronamespace = to_regnamespace('quake')
    )
    select o.kind, o.name, o.attribute, w.rolname::text, e.privilege_type,
           case when e.grantee = 0 then '' else g.rolname::text end, e.is_grantable
      from object o join pg_roles w on w.oid = o.owner
      left join lateral aclexplode(o.acl) e on e.grantee <> o.owner
      left join pg_roles g on g.oid = e.grantee
    """

  private static func readObjects(
    _ connection: Connection
  ) throws -> ([SecuredObject: String], Set<Grant>, Set<Grant>) {
    let rows = try connection.execute(objects)
    var owners: [SecuredObject: String] = [:]
    var grants: Set<Grant> = []
    var grantable: Set<Grant> = []
    for row in 0..<rows.rowCount {
      guard let kind = SecuredObject.Kind(rawValue: rows.text(row, 0) ?? "") else { continue }
      let object = SecuredObject(kind, rows.text(row, 1) ?? "")
      owners[object] = rows.text(row, 3)
      guard let privilege = rows.text(row, 4), let grantee = rows.text(row, 5) else { continue }
      let grant = Grant(
        object: object, column: rows.text(row, 2), privilege: privilege, grantee: grantee)
      grants.insert(grant)
      if rows.bool(row, 6) == true { grantable.insert(grant) }
    }
    return (owners, grants, grantable)
  }

  /// Other roles that may write the history, directly or as members of a role, except superusers and
  /// PostgreSQL's predefined roles. A privilege of PUBLIC is reported once, for PUBLIC. The privilege TRIGGER
  /// counts, because a trigger runs with the privileges of every role that writes to the table.
  private static func readStrangers(
    _ connection: Connection, _ names: RoleNames, _ ours: Parameter
  ) throws -> [(role: String, object: SecuredObject, privilege: String)] {
    let history = PrivilegeTable.objects.filter { $0.isHistory }.map(\.object)
    func list(_ objects: [SecuredObject]) -> Parameter { .array(objects.map(\.name)) }
    let tables = history.filter { $0.kind == .table }
    let rows = try connection.execute(
      """
      with stranger as (
        select r.oid, r.rolname from pg_roles r
         where not r.rolsuper and r.rolname !~ '^pg_' and r.rolname <> all ($1::text[])
           and not coalesce(pg_has_role(r.oid, (select o.oid from pg_roles o where o.rolname = $2), 'usage'),
                            false)
      ), target as (
        -- By the catalogs: looking names up needs a right to the schema.
        select 'table' as kind, c.oid, n.name, p.privilege
          from unnest($3::text[]) n (name)
          join pg_class c on c.relnamespace = to_regnamespace('quake') and 'quake.' || c.relname = n.name
         cross join unnest('{INSERT,UPDATE,DELETE,TRUNCATE}'::text[]) p (privilege)
        union all
        select 'table', c.oid, n.name, 'TRIGGER'
          from unnest($4::text[]) n (name)
          join pg_class c on c.relnamespace = to_regnamespace('quake') and 'quake.' || c.relname = n.name
        union all
        select 'sequence', c.oid, n.name, p.privilege
          from unnest($5::text[]) n (name)
          join pg_class c on c.relnamespace = to_regnamespace('quake') and 'quake.' || c.relname = n.name
         cross join unnest('{USAGE,UPDATE}'::text[]) p (privilege)
        union all
        select 'function', f.oid, n.name, 'EXECUTE'
          from unnest($6::text[]) n (name)
          join pg_proc f on f.pronamespace = to_regnamespace('quake')
           and 'quake.' || f.proname || '(' || oidvectortypes(f.proargtypes) || ')' = n.name
      ), held as (
        select s.rolname::text as role, t.kind, t.name, t.privilege,
               case t.kind
                 when 'table' then has_table_privilege(s.oid, t.oid, t.privilege)
                                   and not has_table_privilege('public', t.oid, t.privilege)
                                   and pg_get_userbyid(c.relowner) <> s.rolname
                 when 'sequence' then has_sequence_privilege(s.oid, t.oid, t.privilege)
                                      and not has_sequence_privilege('public', t.oid, t.privilege)
                                      and pg_get_userbyid(c.relowner) <> s.rolname
                 else has_schema_privilege(s.oid, to_regnamespace('quake'), 'usage')
                      and has_function_privilege(s.oid, t.oid, t.privilege)
                      and not has_function_privilege('public', t.oid, t.privilege)
                      and pg_get_userbyid(f.proowner) <> s.rolname
               end as is_held
          from target t cross join stranger s
          left join pg_class c on c.oid = t.oid and t.kind <> 'function'
          left join pg_proc f on f.oid = t.oid and t.kind = 'function'
      )
      select role, kind, name, privilege from held where is_held order by 1, 2, 3, 4
      """,
      [
        ours, .text(names.name(.owner)), list(tables),
        list(PrivilegeTable.objects.map(\.object).filter { $0.kind == .table }),
        list(history.filter { $0.kind == .sequence }),
        list(history.filter { $0.kind == .function }),
      ])
    return (0..<rows.rowCount).compactMap { row in
      guard let role = rows.text(row, 0),
        let kind = SecuredObject.Kind(rawValue: rows.text(row, 1) ?? ""),
        let name = rows.text(row, 2), let privilege = rows.text(row, 3)
      else { return nil }
      return (role, SecuredObject(kind, name), privilege)
    }
  }
}
