import Postgres
import QuakeModel
import QuakeSchema
import TestSupport
import Testing

/// Creating, checking and dropping roles. One after the other: all databases of a server share its
/// roles.
@Suite(.serialized)
struct RoleCommandTests {
  @Test(arguments: ServerVersion.usual)
  func rolesAreCreatedOnceAndThenNoDifferencesRemain(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version, makesRoles: false)
    #expect(
      try database.findings().filter { $0.hasPrefix("missing role") }.count == Role.allCases.count)
    let maker = RoleMaker(database.names, over: database.connection)
    let planned = try maker.plan().steps.map(\.shown)
    #expect(try database.findings().filter { $0.hasPrefix("missing role") }.count == 7)
    let outcome = try maker.make()
    #expect(outcome.steps.map(\.shown) == planned)
    #expect(outcome.left.map(\.text) == [])
    #expect(try database.findings() == [])
    #expect(try maker.make().steps.map(\.shown) == [])
    // Everything is the owner's, which may migrate and touch all of it.
    #expect(
      try database.connection.table(
        """
        select distinct pg_get_userbyid(relowner) from pg_class
         where relnamespace = 'quake'::regnamespace
        union select distinct pg_get_userbyid(proowner) from pg_proc
         where pronamespace = 'quake'::regnamespace
        """) == [database.names.name(.owner)])
  }

  @Test(arguments: ServerVersion.usual)
  func eachPrivilegeTooManyOrTooFewIsNamedAndPutRight(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    let names = database.names
    try database.connection.run(
      "revoke update on quake.feed from \(names.name(.writer))",
      "revoke update (token) on quake.watcher from \(names.name(.watcher))",
      "grant delete on quake.quake to \(names.name(.reader))",
      "grant update (place) on quake.quake to \(names.name(.reader))",
      "grant select on quake.quake to \(names.name(.editor)) with grant option",
      "grant insert on quake.quake to public",
      "grant execute on function quake.purge_history(integer) to public",
      "grant connect on database \(database.database.name) to public",
      "grant create on schema public to public",
      "grant \(names.name(.purger)) to \(names.name(.reader))",
      "revoke pg_monitor from \(names.name(.monitor))",
      "alter role \(names.name(.writer)) in database \(database.database.name) reset statement_timeout",
      "alter role \(names.name(.writer)) connection limit -1",
      "alter table quake.feed owner to current_user")
    #expect(
      Set(try database.findings()) == [
        "too few: role writer lacks UPDATE on table quake.feed",
        "too few: role watcher lacks UPDATE (token) on table quake.watcher",
        "too many: role reader has DELETE on table quake.quake",
        "too many: role reader has UPDATE (place) on table quake.quake",
        "too many: role editor may grant SELECT on table quake.quake to others",
        "too many: PUBLIC has INSERT on table quake.quake",
        "too many: PUBLIC has EXECUTE on function quake.purge_history(integer)",
        "too many: PUBLIC has CONNECT on database \"\(database.database.name)\"",
        "too many: PUBLIC has CREATE on schema public",
        "too many: role reader is a member of role purger",
        "too few: role monitor is not a member of pg_monitor",
        "missing setting: role writer has no statement_timeout in this database",
        "missing setting: role writer has no connection limit",
        "wrong owner: table quake.feed belongs to role \(try #require(try database.connection.ask("select current_user")))",
      ])
    #expect(try RoleMaker(names, over: database.connection).make().left.map(\.text) == [])
    #expect(try database.findings() == [])
  }

  /// For a worker that purges and expires events, and a server that edits and keeps cursors of clients.
  @Test(arguments: ServerVersion.usual)
  func membershipsThatTheDocumentsNameAreKept(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    let names = database.names
    try database.connection.run(
      "grant \(names.name(.purger)), \(names.name(.editor)) to \(names.name(.writer))",
      "grant \(names.name(.editor)), \(names.name(.watcher)) to \(names.name(.reader))")
    #expect(try database.findings() == [])
    #expect(try RoleMaker(names, over: database.connection).make().steps.isEmpty)
  }

  /// A machine with the release before may run "roles create" when another has migrated.
  @Test func whatANewerReleaseGrantsIsKept() throws {
    let database = try RoledDatabase(on: .main)
    let (editor, watcher) = (database.names.name(.editor), database.names.name(.watcher))
    try database.connection.run(
      "grant insert on quake.feed to \(editor)", "grant \(editor) to \(watcher)",
      "grant insert on quake.feed to public")
    #expect(try database.findings().count >= 3)
    try database.connection.run(
      """
      insert into quake.migration (version, name, sha256, program, oldest_schema)
      select max(version) + 1, 'next', '', 'tests', max(version) from quake.migration
      """)
    let left = try database.findings().filter { !$0.hasPrefix("note") }
    #expect(left == ["too many: PUBLIC has INSERT on table quake.feed"])
    #expect(try RoleMaker(database.names, over: database.connection).make().steps.count == 1)
  }

  @Test(arguments: ServerVersion.present)
  func rolesThatOthersHaveAreReportedAndLeftToAPerson(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    let names = database.names
    let stranger = try database.makeRole("stranger")
    let member = try database.makeRole("member")
    let dba = try database.makeRole("dba")
    let powerful = try database.makeRole("powerful")
    try database.connection.run(
      "grant usage on schema quake to \(stranger)",
      // Other roles may write events.
      "grant select, insert on quake.quake to \(stranger)",
      "grant update on quake.quake_version to \(stranger)",
      "grant trigger on quake.quake to \(stranger)",
      "grant usage on sequence quake.token to \(stranger)",
      "grant \(stranger) to \(member)",
      "grant \(names.name(.owner)) to \(dba)",
      "alter role \(names.name(.reader)) createrole")
    try database.connection.run("grant pg_write_all_data to \(powerful)")
    let findings = Set(try database.findings())
    for expected in [
      "too many: role stranger has UPDATE on table quake.quake_version",
      "too many: role stranger has TRIGGER on table quake.quake",
      "too many: role stranger has USAGE on sequence quake.token",
      "too many: role member has UPDATE on table quake.quake_version",
      "too many: role dba is a member of role owner",
      "too many: role powerful has INSERT on table quake.change_transaction",
      "too many: role reader may create roles",
    ] { #expect(findings.contains(expected), "\(expected)") }
    #expect(
      Set(findings.filter { $0.hasPrefix("note: ") }) == [
        "note: role stranger has SELECT on table quake.quake",
        "note: role stranger has INSERT on table quake.quake",
      ])
    // A person must decide on them.
    let outcome = try RoleMaker(names, over: database.connection).make()
    #expect(outcome.steps.isEmpty)
    #expect(outcome.left.count == findings.count { !$0.hasPrefix("note: ") })
  }

  @Test func rolesGetWhatTheyNeedOnTheObjectsOfANewMigration() throws {
    let database = try RoledDatabase(on: .main)
    // As after a migration: only the owner has privileges on a table, and PUBLIC may execute a function.
    let owner = try database.connect(as: .owner)
    try owner.run(
      "revoke all on quake.backfill from \(Role.allCases.dropFirst().map(database.names.name).joined(separator: ", "))",
      "grant execute on function quake.request_refresh(text) to public")
    #expect(try !database.findings().isEmpty)
    // The owner may do that itself, because no role is created.
    _ = try RoleMaker(database.names, over: owner).make()
    #expect(try database.findings() == [])
  }

  @Test(arguments: ServerVersion.usual)
  func rolesOwnTheViewOfThePointsAndReadItIfTheyMayReadEvents(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    // Its columns do not matter, so that the test needs no PostGIS.
    try database.connection.run(
      "create view quake.quake_point as select q.code from quake.quake q",
      "grant select on quake.quake_point to \(database.names.name(.purger))")
    let superuser = try #require(try database.connection.ask("select current_user"))
    #expect(
      Set(try database.findings().filter { !$0.hasPrefix("note: ") }) == [
        "wrong owner: view quake.quake_point belongs to role \(superuser)",
        "too few: role writer lacks SELECT on view quake.quake_point",
        "too few: role editor lacks SELECT on view quake.quake_point",
        "too few: role reader lacks SELECT on view quake.quake_point",
        "too few: role watcher lacks SELECT on view quake.quake_point",
        "too many: role purger has SELECT on view quake.quake_point",
      ])
    _ = try RoleMaker(database.names, over: database.connection).make()
    #expect(try database.findings() == ["note: view quake.quake_point is not Quake's"])
    for role in Role.allCases {
      let connection = try database.connect(as: role)
      let error = try refusal(connection, "select p.code from quake.quake_point p")
      let mayRead = [Role.owner, .writer, .editor, .reader, .watcher].contains(role)
      #expect((error == nil) == mayRead, "\(role.rawValue): \(error?.description ?? "done")")
    }
    #expect(
      try database.connection.ask(
        "select pg_get_userbyid(relowner) from pg_class where oid = 'quake.quake_point'::regclass")
        == database.names.name(.owner))
  }

  @Test func rolesKeepSettingsAndTablesThatAnAdministratorAdded() throws {
    let database = try RoledDatabase(on: .main)
    let reader = database.names.name(.reader)
    try database.connection.run(
      "alter role \(reader) in database \(database.database.name) set statement_timeout = '2d'",
      "alter role \(reader) connection limit 500", "create table quake.note (text text)",
      "grant select on quake.note to \(reader)")
    #expect(try database.findings() == ["note: table quake.note is not Quake's"])
    _ = try RoleMaker(database.names, over: database.connection).make()
    let connection = try database.connect(as: .reader)
    #expect(try connection.ask("show statement_timeout") == "2d")
    try connection.run("select * from quake.note")
  }

  @Test(arguments: ServerVersion.usual)
  func rolesCanBeMadeByARoleThatMayMakeRolesAndOwnsTheDatabase(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version, makesRoles: false)
    let creator = try database.makeRole("creator", "login createrole")
    let other = try database.makeRole("other", "login createrole")
    try database.connection.run(
      "alter database \(database.database.name) owner to \(creator)",
      "revoke create on schema public from public",
      "grant connect on database \(database.database.name) to \(other)")
    // As if it had migrated.
    try database.connection.run("alter schema quake owner to \(creator)")
    for line in try database.connection.table(
      """
      select format('alter %s %s owner to \(creator)',
                    case relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end,
                    oid::regclass)
        from pg_class c where relnamespace = 'quake'::regnamespace and relkind in ('r', 'v', 'S')
         and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'i'
                                                   and d.classid = 'pg_class'::regclass
                                                   and d.refclassid = 'pg_class'::regclass)
      union all
      select format('alter type quake.%I owner to \(creator)', t.typname)
        from pg_type t join pg_class c on c.oid = t.typrelid and c.relkind = 'c'
       where t.typnamespace = 'quake'::regnamespace
      union all
      select format('alter function %s owner to \(creator)', oid::regprocedure)
        from pg_proc where pronamespace = 'quake'::regnamespace
      """)
    { try database.connection.run(line) }

    // Another one that may make roles owns nothing here.
    let foreign = try database.connect(as: other)
    let error = try #require(throws: PostgresError.self) {
      _ = try RoleMaker(database.names, over: foreign).make()
    }
    #expect(error.sqlState == "42501" && error.message.contains("cannot make the roles"))
    #expect(error.detail?.contains("does not own database") == true)

    let own = try database.connect(as: creator)
    let left = try RoleMaker(database.names, over: own).make().left.map {
      $0.text.replacing(database.names.prefix, with: "")
    }
    // The finding that needs a superuser is reported, and everything else is correct.
    let privileged = Role.allCases.dropFirst().map {
      "role \($0.rawValue) has no temp_file_limit in this database"
    }
    let membership =
      version == .main ? [] : ["role monitor is not a member of pg_monitor"]
    let shared = [
      "PUBLIC has EXECUTE on 21 functions for advisory locks, such as pg_catalog.pg_advisory_lock(bigint)",
      "PUBLIC has EXECUTE on 3 functions that make large objects, such as pg_catalog.lo_creat(integer)",
    ]
    let creators =
      version == .main
      ? ["role other can make itself a member of Quake's roles: it has CREATEROLE"] : []
    #expect(Set(left) == Set(privileged + membership + shared + creators))
    #expect(try RoleMaker(database.names, over: own).make().steps.isEmpty)
    _ = try RoleMaker(database.names, over: database.connection).make()
    #expect(try database.findings() == creators.map { "too many: \($0)" })

    // And it can drop them again, after a superuser has taken back what only one can.
    let refused = try #require(throws: StoreError.self) {
      _ = try RoleRemoval(database.names, over: own).remove()
    }
    let locks =
      "pg_catalog.pg_try_advisory_lock(bigint), pg_catalog.pg_try_advisory_lock(integer, integer)"
    let revoke = "revoke execute on function \(locks) from \(database.names.name(.writer))"
    #expect(refused.hint?.contains(revoke) == true, "\(refused.hint ?? "")")
    try database.connection.run(revoke)
    let outcome = try RoleRemoval(database.names, over: own).remove()
    #expect(outcome.removed.count == Role.allCases.count)
    #expect(
      try database.connection.ask(
        "select pg_get_userbyid(relowner) from pg_class where oid = 'quake.quake'::regclass")
        == creator)
  }

  @Test(arguments: ServerVersion.usual)
  func rolesGetPasswordsThatNoStatementAndNoTableContains(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version, makesRoles: false)
    var options = RoleMaker.Options()
    options.passwords = [.writer: "dragon's \\ brëath"]
    let outcome = try RoleMaker(database.names, options, over: database.connection).make()
    #expect(!outcome.steps.contains { $0.shown.contains("dragon") || $0.shown.contains("SCRAM") })
    #expect(
      try database.connection.table(
        """
        select rolname, left(rolpassword, 19) from pg_authid
         where rolname like '\(database.names.prefix)%' and rolpassword is not null
        """) == ["\(database.names.name(.writer))|SCRAM-SHA-256$4096:"])
  }

  @Test(arguments: ServerVersion.usual)
  func rolesAreDroppedWithTheirPrivilegesAndEventsAndOtherRolesStay(_ version: ServerVersion) throws
  {
    let database = try RoledDatabase(on: version, makesRoles: false)
    let names = database.names
    // This one was there before.
    _ = try database.makeRole("reader")
    _ = try RoleMaker(names, over: database.connection).make()
    let editor = try database.connect(as: .editor)
    try editor.run("insert into quake.quake (code, time) values ('kept', now())")
    let owner = try database.connect(as: .owner)
    try owner.run("create schema own", "create table own.kept as select 1 as a")

    let planned = try RoleRemoval(names, over: database.connection).plan()
    #expect(planned.removed.count == 6 && planned.kept == [names.name(.reader)])
    let outcome = try RoleRemoval(names, over: database.connection).remove()
    #expect(outcome.statements == planned.statements)
    #expect(
      try database.connection.table(
        "select rolname from pg_roles where rolname like '\(names.prefix)%'")
        == [names.name(.reader)])
    #expect(
      try database.connection.ask(
        "select has_table_privilege('\(names.name(.reader))', 'quake.quake', 'select')") == "f")
    #expect(
      try database.connection.ask(
        "select has_database_privilege('\(names.name(.reader))', current_database(), 'connect')")
        == "f")
    #expect(
      try database.connection.ask(
        "select count(*) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where d.datname = current_database()"
      ) == "0")
    #expect(try database.connection.ask("select code from quake.quake") == "kept")
    #expect(try database.connection.ask("select a from own.kept") == "1")
    #expect(try RoleRemoval(names, over: database.connection).remove().removed == [])
  }

  @Test func rolesAreNotDroppedWhileAnotherDatabaseDependsOnThem() throws {
    let database = try RoledDatabase(on: .main)
    let other = try TestDatabase()
    let there = try other.connect()
    try there.run("grant select on quake.quake to \(database.names.name(.reader))")
    let refused = try #require(throws: StoreError.self) {
      _ = try RoleRemoval(database.names, over: database.connection).remove()
    }
    #expect(refused.message.contains("in use in other databases"))
    #expect(
      refused.detail
        == "In database \"\(other.name)\", they have privileges: \(database.names.name(.reader)).")
    try there.run(
      "create table public.own ()", "alter table public.own owner to \(database.names.name(.owner))"
    )
    let owning = try #require(throws: StoreError.self) {
      _ = try RoleRemoval(database.names, over: database.connection).plan()
    }
    #expect(owning.detail?.contains("they own objects: ") == true)
    #expect(try database.findings() == [])
    try there.run("drop owned by \(database.names.name(.owner)), \(database.names.name(.reader))")
    _ = try RoleRemoval(database.names, over: database.connection).remove()
  }

  @Test func rolesAreNotDroppedByOneOfThem() throws {
    let database = try RoledDatabase(on: .main)
    let owner = try database.connect(as: .owner)
    #expect(throws: StoreError.self) {
      _ = try RoleRemoval(database.names, over: owner).remove()
    }
  }

  @Test func rolesHaveNamesThatNeedNoQuotes() {
    #expect(RoleNames(prefix: "quake_")?.name(.writer) == "quake_writer")
    #expect(RoleNames(prefix: "q2_")?.role(named: "q2_owner") == .owner)
    for prefix in [
      "", "2q", "Quake", "a-b", "a b", "a\"", "pg_", "é", String(repeating: "a", count: 41),
    ] {
      #expect(RoleNames(prefix: prefix) == nil, "\(prefix)")
    }
  }
}
