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
  let owners: [SecuredObject: String]
  let grants: Set<Grant>
  /// Grants to Quake's roles with the grant option.
  let grantable: Set<Grant>
  /// Quake's roles that are members of other roles: the member and the group.
  let memberships: [(member: String, group: String)]
  /// Other roles that may change objects of the history.
  let strangers: [(role: String, object: SecuredObject, privilege: String)]
  /// Other roles that have the privileges of the owner.
  let ownerMembers: [String]
  /// Roles that may switch triggers off with a parameter; an empty name is PUBLIC.
  let parameters: [(role: String, parameter: String, privilege: String)]
  /// Other roles that can make themselves members of Quake's roles.
  let creators: [(role: String, reason: String)]
  /// Other roles that read all tables of the server, as members of `pg_read_all_data`.
  let readers: [String]
  /// Privileges on objects that a later migration makes.
  let defaults: [DefaultPrivilege]
  let superusers: Set<String>
  /// What was done to the schema itself.
  let deviations: [SchemaDeviation]
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
    let owner = names.name(.owner)
    let about = try connection.row(
      """
      select d.datname as database, o.rolname as database_owner, u.rolname as caller, u.rolsuper,
             u.rolcreaterole, pg_has_role(d.datdba, 'usage') as owns_database,
             coalesce((select pg_has_role(r.oid, 'usage')
                         from pg_roles r where r.rolname = \(owner)), false) as is_member,
             coalesce((select pg_has_role(r.oid, 'usage with admin option')
                         from pg_roles r where r.rolname = 'pg_monitor'), false) as grants_monitor,
             exists (select from pg_proc where proname = 'has_parameter_privilege') as has_privileges
        from pg_database d join pg_roles o on o.oid = d.datdba, pg_roles u
       where d.datname = current_database() and u.rolname = current_user
      """
    ) { row throws(PostgresError) in
      let isSuperuser: Bool = try row["rolsuper"]
      let createsRoles: Bool = try row["rolcreaterole"]
      let grantsMonitor: Bool = try row["grants_monitor"]
      let hasPrivileges: Bool = try row["has_privileges"]
      let caller = Caller(
        name: try row["caller"], isSuperuser: isSuperuser, createsRoles: createsRoles,
        ownsDatabase: try row["owns_database"], isOwnerMember: try row["is_member"],
        mayLimitFiles: isSuperuser,
        // Up to version 15, a role with CREATEROLE may grant any role except a superuser.
        mayGrantMonitor: isSuperuser || grantsMonitor
          || createsRoles && connection.serverVersion < 160000)
      let (database, databaseOwner): (String, String) = (
        try row["database"], try row["database_owner"]
      )
      return (
        database: database, databaseOwner: databaseOwner, caller: caller,
        hasPrivileges: hasPrivileges
      )
    }
    database = about.database
    databaseOwner = about.databaseOwner
    var caller = about.caller
    // Since version 15, a superuser may allow other roles to set it.
    if !caller.isSuperuser, about.hasPrivileges {
      caller.mayLimitFiles = try connection.row(
        "select has_parameter_privilege(\(RoleSettings.privileged), 'set')", as: Bool.self)
    }
    self.caller = caller

    roles = try Self.readRoles(connection, names)
    (owners, grants, grantable) = try Self.readObjects(connection)
    memberships = try connection.rows(
      """
      select m.rolname, g.rolname
        from pg_auth_members a join pg_roles m on m.oid = a.member join pg_roles g on g.oid = a.roleid
       where m.rolname = any (\(names.all)::text[]) order by m.rolname::text, g.rolname::text
      """, as: (String, String).self
    ).map { (member: $0, group: $1) }
    strangers = try Self.readStrangers(connection, names)
    parameters = try Self.readParameters(connection)
    creators = try Self.readCreators(connection, names)
    readers = try Self.readReaders(connection, names)
    defaults = try Self.readDefaults(connection, names)
    superusers = Set(
      try connection.rows("select rolname from pg_roles where rolsuper", as: String.self))
    deviations = try SchemaDeviation.all(over: connection)
    let seesRegions = try connection.row(
      """
      select coalesce((select has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
                         from pg_class c join pg_namespace n on n.oid = c.relnamespace
                        where n.nspname = 'quake' and c.relname = 'regional_database'), false)
      """, as: Bool.self)
    let hasRegions = try seesRegions && !Region.names(of: connection).isEmpty
    ownerMembers = try connection.rows(
      // The servers of regions connect to their centre as a role that replicates and is a member of the owner.
      """
      select r.rolname::text from pg_roles r, pg_roles o
       where o.rolname = \(owner) and r.oid <> o.oid and not r.rolsuper and r.rolname !~ '^pg_'
         and not (r.rolreplication and \(hasRegions)) and r.oid <> (select d.datdba from pg_database d where d.datname = current_database())
         and pg_has_role(r.oid, o.oid, 'usage') order by 1
      """, as: String.self)
    otherDatabases = try Self.otherDatabases(using: names.all, over: connection)
  }

  /// Another database of the server in which some of the roles own objects or have privileges.
  struct OtherDatabase {
    var name: String
    var roles: [String]
    /// Whether one of them owns an object there, or the database.
    var hasObjects: Bool
  }

  /// The other databases in which roles of these names are in use, in the order of their names.
  static func otherDatabases(
    using roles: [String], over connection: Connection
  ) throws -> [OtherDatabase] {
    try connection.rows(
      """
      select d.datname::text, array_agg(distinct r.rolname::text), bool_or(s.deptype = 'o')
        from pg_shdepend s join pg_roles r on r.oid = s.refobjid
        join pg_database d
          on d.oid = s.dbid or s.dbid = 0 and s.classid = 'pg_database'::regclass and s.deptype = 'o'
                               and d.oid = s.objid
       where s.refclassid = 'pg_authid'::regclass and r.rolname = any (\(roles)::text[])
         and d.datname <> current_database()
       group by 1 order by 1
      """, as: (String, [String], Bool).self
    ).map { OtherDatabase(name: $0, roles: $1, hasObjects: $2) }
  }

  private static func readRoles(
    _ connection: Connection, _ names: RoleNames
  ) throws -> [Role: Entry] {
    let rows = try connection.rows(
      """
      select r.rolname, coalesce(shobj_description(r.oid, 'pg_authid'), ''), r.rolconnlimit,
             array_remove(array[case when r.rolsuper then 'is a superuser' end,
                                case when r.rolcreaterole then 'may create roles' end,
                                case when r.rolcreatedb then 'may create databases' end,
                                case when r.rolreplication then 'may replicate' end,
                                case when r.rolbypassrls then 'passes over row security' end], null),
             array(select split_part(c.entry, '=', 1)
                     from pg_db_role_setting s cross join unnest(s.setconfig) c (entry)
                    where s.setrole = r.oid
                      and s.setdatabase in (0, (select d.oid from pg_database d
                                                 where d.datname = current_database())))
        from pg_roles r where r.rolname = any (\(names.all)::text[])
      """, as: (String, String, Int64, [String], [String]).self)
    var roles: [Role: Entry] = [:]
    for (name, description, connectionLimit, excessive, settings) in rows {
      guard let role = names.role(named: name) else { continue }
      roles[role] = Entry(
        isMade: description == comment(role), connectionLimit: connectionLimit,
        excessive: excessive, settings: Set(settings))
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
      union all
      select 'function', 'pg_catalog.' || p.proname || '(' || oidvectortypes(p.proargtypes) || ')', null,
             p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
        from pg_proc p
       where p.pronamespace = 'pg_catalog'::regnamespace
         and (p.proname ~ '^pg_(try_)?advisory_' or p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea'))
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
    let rows = try connection.rows(
      objects, as: (String, String, String?, String, String?, String?, Bool?).self)
    var owners: [SecuredObject: String] = [:]
    var grants: Set<Grant> = []
    var grantable: Set<Grant> = []
    for (kind, name, column, owner, privilege, grantee, isGrantable) in rows {
      guard let kind = SecuredObject.Kind(rawValue: kind) else { continue }
      let object = SecuredObject(kind, name)
      owners[object] = owner
      guard let privilege, let grantee else { continue }
      let grant = Grant(object: object, column: column, privilege: privilege, grantee: grantee)
      grants.insert(grant)
      if isGrantable == true { grantable.insert(grant) }
    }
    return (owners, grants, grantable)
  }

  /// Other roles that may write the history, directly or as members of a role, except superusers and
  /// PostgreSQL's predefined roles. A privilege of PUBLIC is reported once, for PUBLIC. The privilege TRIGGER
  /// counts, because a trigger runs with the privileges of every role that writes to the table.
  private static func readStrangers(
    _ connection: Connection, _ names: RoleNames
  ) throws -> [(role: String, object: SecuredObject, privilege: String)] {
    let all = PrivilegeTable.objects
    func history(_ kind: SecuredObject.Kind) -> [String] {
      all.filter { $0.isHistory && $0.object.kind == kind }.map(\.object.name)
    }
    let tables = all.map(\.object).filter { $0.kind == .table }.map(\.name)
    let rows = try connection.rows(
      """
      with stranger as (
        select r.oid, r.rolname from pg_roles r
         where not r.rolsuper and r.rolname !~ '^pg_' and r.rolname <> all (\(names.all)::text[])
           and not coalesce(
             pg_has_role(r.oid, (select o.oid from pg_roles o where o.rolname = \(names.name(.owner))),
                         'usage'), false)
      ), target as (
        -- By the catalogs: looking names up needs a right to the schema.
        select 'table' as kind, c.oid, n.name, p.privilege
          from unnest(\(history(.table))::text[]) n (name)
          join pg_class c on c.relnamespace = to_regnamespace('quake') and 'quake.' || c.relname = n.name
         cross join unnest('{INSERT,UPDATE,DELETE,TRUNCATE}'::text[]) p (privilege)
        union all
        select 'table', c.oid, n.name, 'TRIGGER'
          from unnest(\(tables)::text[]) n (name)
          join pg_class c on c.relnamespace = to_regnamespace('quake') and 'quake.' || c.relname = n.name
        union all
        select 'sequence', c.oid, n.name, p.privilege
          from unnest(\(history(.sequence))::text[]) n (name)
          join pg_class c on c.relnamespace = to_regnamespace('quake') and 'quake.' || c.relname = n.name
         cross join unnest('{USAGE,UPDATE}'::text[]) p (privilege)
        union all
        select 'function', f.oid, n.name, 'EXECUTE'
          from unnest(\(history(.function))::text[]) n (name)
          join pg_proc f on f.pronamespace = to_regnamespace('quake')
           and 'quake.' || f.proname || '(' || oidvectortypes(f.proargtypes) || ')' = n.name
      ), held as (
        select s.rolname::text as role, t.kind, t.name, t.privilege,
               case t.kind
                 when 'table' then case when t.privilege in ('INSERT', 'UPDATE')
                                        -- Also of a single column.
                                        then has_any_column_privilege(s.oid, t.oid, t.privilege)
                                             and not has_any_column_privilege('public', t.oid, t.privilege)
                                        else has_table_privilege(s.oid, t.oid, t.privilege)
                                             and not has_table_privilege('public', t.oid, t.privilege) end
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
      """, as: (String, String, String, String).self)
    return rows.compactMap { role, kind, name, privilege in
      SecuredObject.Kind(rawValue: kind).map { (role, SecuredObject($0, name), privilege) }
    }
  }
}
