import Postgres
import QuakeSchema
import TestSupport
import Testing

/// What somebody with enough rights does to the schema is seen.
@Suite struct SchemaDeviationTests {
  /// Statements of which each makes one difference, and what is said about it.
  private static let deeds: [(statement: String, text: String)] = [
    (
      "alter table quake.quake disable trigger quake_20_record_update",
      "trigger quake_20_record_update of table quake.quake is disabled"
    ),
    (
      "alter table quake.quake enable replica trigger quake_20_record_delete",
      "trigger quake_20_record_delete of table quake.quake fires on replicas only"
    ),
    (
      "drop trigger quake_20_record_truncate on quake.quake",
      "table quake.quake has no trigger quake_20_record_truncate"
    ),
    (
      """
      create function public.own() returns trigger language plpgsql as 'begin return null; end';
      create trigger own before insert on quake.feed execute function public.own()
      """,
      "trigger own of table quake.feed runs the foreign function public.own()"
    ),
    (
      "create rule own as on delete to quake.quake do instead nothing",
      "table quake.quake has the rule own"
    ),
    (
      "alter table quake.quake_version enable row level security",
      "table quake.quake_version has row security"
    ),
    (
      "alter table quake.watcher disable row level security",
      "table quake.watcher has no row security"
    ),
    (
      "alter table quake.watcher force row level security",
      "table quake.watcher has row security for its owner, too"
    ),
    (
      "create policy own on quake.quake using (false)",
      "table quake.quake has the changed or foreign policy own"
    ),
    ("drop policy watcher_seen on quake.watcher", "table quake.watcher has no policy watcher_seen"),
    (
      "alter policy watcher_moved on quake.watcher using (true)",
      "table quake.watcher has the changed or foreign policy watcher_moved"
    ),
    (
      "alter function quake.purge_history(integer) reset search_path",
      "function quake.purge_history(integer) runs with its owner's rights, but without its search_path"
    ),
    (
      "alter sequence quake.token cache 20",
      "sequence quake.token has an increment of 1 and a cache of 20"
    ),
    (
      "alter function quake.find(text) security definer",
      "function quake.find(text) runs with its owner's rights"
    ),
    (
      "do $$ begin execute format('alter database %I set session_replication_role = replica', current_database()); end $$",
      "the database sets session_replication_role=replica"
    ),
    (
      "do $$ begin execute format('alter role %I in database %I set quake.author = forged', current_user, current_database()); end $$",
      "role postgres sets quake.author=forged"
    ),
  ]

  @Test(arguments: ServerVersion.present)
  func eachChangeOfTheSchemaIsNamedAndUndone(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let connection = try database.connect()
    let user = try #require(try connection.ask("select current_user"))
    #expect(try SchemaDeviation.all(over: connection) == [])
    for (statement, text) in Self.deeds {
      try connection.executeScript(SQL(trusted: statement))
      let found = try SchemaDeviation.all(over: connection)
      #expect(
        found.map(\.text) == [text.replacing("role postgres", with: "role \(user)")], "\(statement)"
      )
      for deviation in found where !deviation.statement.hasPrefix("--") {
        try connection.executeScript(SQL(trusted: deviation.statement))
      }
      // A trigger and policies that were dropped are made anew by hand.
      for line in [
        "create trigger quake_20_record_truncate after truncate on quake.quake for each statement execute function quake.quake__record_truncate()",
        "create policy watcher_seen on quake.watcher for select using (true)",
        "create policy watcher_moved on quake.watcher for update using (role is null or role = current_user) with check (role = current_user)",
      ] { _ = try? connection.run(line) }
      #expect(try SchemaDeviation.all(over: connection).map(\.text) == [], "\(statement)")
    }
  }

  @Test(arguments: ServerVersion.usual)
  func theCheckOfRolesListsWhatWasDoneToTheSchema(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    try database.connection.run("alter table quake.quake disable trigger quake_20_record_insert")
    let expected =
      "changed: trigger quake_20_record_insert of table quake.quake is disabled"
    #expect(try database.findings() == [expected])
    // The monitor sees it, too, and a person decides.
    let monitor = try database.connect(as: .monitor)
    #expect(
      try RoleCheck.run(database.names, over: monitor).contains { $0.kind == .changed })
    _ = try RoleMaker(database.names, over: database.connection).make()
    #expect(try database.findings() == [expected])
  }

  @Test(arguments: ServerVersion.present)
  func whatOtherRolesMayDoIsReported(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    let names = database.names
    let stranger = try database.makeRole("stranger")
    let creator = try database.makeRole("creator", "login createrole")
    try database.connection.run(
      "grant update (place) on quake.quake_version to \(stranger)",
      "grant delete on quake.quake to \(stranger)",
      "grant execute on function quake.request_refresh(text) to \(stranger)",
      "grant usage on sequence quake.import_id_seq to \(names.name(.reader))")
    var expected: Set = [
      "too many: role stranger has UPDATE on table quake.quake_version",
      "too many: role stranger has DELETE on table quake.quake",
      "too many: role stranger has EXECUTE on function quake.request_refresh(text)",
      "too many: role reader has USAGE on sequence quake.import_id_seq",
    ]
    if try database.connection.ask("select current_setting('server_version_num')::integer < 160000")
      == "t"
    {
      expected.insert(
        "too many: role creator can make itself a member of Quake's roles: it has CREATEROLE")
    } else {
      try database.connection.run(
        "grant \(names.name(.editor)) to \(creator) with admin option, inherit false, set false")
      expected.insert(
        "too many: role creator can make itself a member of Quake's roles: it has the admin option for editor"
      )
    }
    if try database.connection.ask("select to_regclass('pg_catalog.pg_parameter_acl') is null")
      == "f"
    {
      try database.connection.run(
        "grant set on parameter session_replication_role to \(names.name(.editor))")
      expected.insert(
        "too many: role editor has SET on parameter session_replication_role, which switches triggers off"
      )
    }
    #expect(Set(try database.findings()) == expected)
    let findings = try RoleCheck.run(names, over: database.connection)
    #expect(RoleFinding.summary(of: findings).hasSuffix("too many"))
    // Each statement undoes its own.
    for finding in findings where finding.role.hasPrefix(names.prefix) {
      try database.connection.executeScript(SQL(trusted: finding.statement))
    }
    #expect(try database.findings() == [])
  }
}
