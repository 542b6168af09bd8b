import Postgres
import QuakeSchema
import TestSupport
import Testing

/// What somebody with enough rights does to the schema is seen.
@Suite struct SchemaDeviationTests {
  /// What somebody does, and how the differences that it makes begin. A statement undoes each, or a comment says what to
  /// do.
  private struct Deed {
    let statement: String
    let texts: [String]

    init(_ statement: String, _ texts: String...) {
      self.statement = statement
      self.texts = texts
    }
  }

  private static let toTriggersAndPolicies = [
    Deed(
      "alter table quake.quake disable trigger quake_20_record_update",
      "trigger quake_20_record_update of table quake.quake has state disabled instead of enabled"),
    Deed(
      "alter table quake.quake enable replica trigger quake_20_record_delete",
      "trigger quake_20_record_delete of table quake.quake has state enabled on replicas only instead of enabled"
    ),
    Deed(
      "drop trigger quake_20_record_truncate on quake.quake",
      "trigger quake_20_record_truncate of table quake.quake is missing"),
    Deed(
      """
      create function public.own() returns trigger language plpgsql as 'begin return null; end';
      create trigger own before insert on quake.feed execute function public.own()
      """,
      "trigger own of table quake.feed is not Quake's"),
    Deed(
      """
      create function public.own() returns trigger language plpgsql as 'begin return null; end';
      create or replace trigger quake_20_record_insert after insert on quake.quake
        execute function public.own()
      """,
      "trigger quake_20_record_insert of table quake.quake has definition "),
    Deed(
      "alter table quake.import_reject disable trigger all",
      "constraint import_reject_import of table quake.import_reject to table quake.import has state disabled instead of enabled"
    ),
    Deed(
      "create rule own as on delete to quake.quake do instead nothing",
      "rule own of table quake.quake is not Quake's"),
    Deed(
      "alter table quake.quake_version enable row level security",
      "table quake.quake_version has row security on instead of off"),
    Deed(
      "alter table quake.watcher disable row level security",
      "table quake.watcher has row security off instead of on"),
    Deed(
      "alter table quake.watcher force row level security",
      "table quake.watcher has row security of the owner on instead of off"),
    Deed(
      "create policy own on quake.quake using (false)",
      "policy own of table quake.quake is not Quake's"),
    Deed(
      "drop policy watcher_seen on quake.watcher",
      "policy watcher_seen of table quake.watcher is missing"),
    Deed(
      "alter policy watcher_moved on quake.watcher using (true)",
      "policy watcher_moved of table quake.watcher has definition "),
  ]

  private static let toFunctions = [
    Deed(
      "alter function quake.purge_history(integer) reset search_path",
      "function quake.purge_history(integer) has settings "),
    Deed(
      "alter function quake.find(text) security definer",
      "function quake.find(text) has rights of its owner instead of its caller"),
    Deed(
      "alter function quake.quake__record_update() security invoker",
      "function quake.quake__record_update() has rights of its caller instead of its owner"),
    Deed(
      "alter function quake.find(text) volatile",
      "function quake.find(text) has volatility volatile instead of stable"),
    Deed(
      """
      create or replace function quake.change_pending__number() returns trigger language plpgsql security definer
        set search_path = pg_catalog, pg_temp set enable_seqscan = off as 'begin return null; end'
      """,
      "function quake.change_pending__number() has text "),
    Deed(
      """
      create or replace function quake.energy(magnitude double precision) returns double precision
        immutable parallel safe set search_path = pg_catalog, pg_temp language plpgsql as 'begin return 0; end'
      """,
      "function quake.energy(double precision) has language plpgsql instead of sql",
      "function quake.energy(double precision) has text ",
      "function quake.energy(double precision) has settings "),
    Deed("drop function quake.versions(text)", "function quake.versions(text) is missing"),
    Deed(
      "create function quake.history_is_whole(integer) returns boolean language sql as 'select true'",
      "function quake.history_is_whole(integer) is not Quake's, and may be called instead of Quake's function"
    ),
    Deed(
      "create operator quake.= (leftarg = text, rightarg = text, function = texteq)",
      "operator quake.=(pg_catalog.text,pg_catalog.text) is not Quake's"),
    Deed(
      """
      do $$ begin execute 'create or replace view quake.live as '
        || replace(pg_get_viewdef('quake.live'), 'superseded_by IS NULL', 'superseded_by IS NOT NULL'); end $$
      """,
      "view quake.live has text "),
    Deed(
      "alter view quake.live set (security_barrier = true)",
      "view quake.live has options security_barrier=true instead of none"),
  ]

  private static let toTables = [
    Deed(
      "alter table quake.association set unlogged",
      "table quake.association has persistence unlogged instead of logged"),
    Deed(
      "alter table quake.feed drop constraint feed_pkey",
      "constraint feed_pkey of table quake.feed is missing"),
    Deed(
      "alter table quake.change_transaction drop constraint change_transaction_transaction_id",
      "constraint change_transaction_transaction_id of table quake.change_transaction is missing"),
    Deed(
      "alter table quake.feed add constraint own unique (url)",
      "constraint own of table quake.feed is not Quake's"),
    Deed(
      "alter table quake.feed add constraint own check (url <> '')",
      "constraint own of table quake.feed is not Quake's"),
    Deed(
      "create table public.own (code text references quake.quake (code))",
      "constraint own_code_fkey of table public.own to table quake.quake is not Quake's"),
    Deed(
      "create unique index own on quake.feed (url)",
      "index quake.own of table quake.feed is not Quake's"),
    Deed(
      """
      create function public.own(text) returns text language sql immutable as 'select $1';
      create index own on quake.feed (public.own(url))
      """,
      "index quake.own of table quake.feed is not Quake's"),
    Deed(
      "drop index quake.quake_time", "index quake.quake_time of table quake.quake is missing"),
    Deed(
      "alter table quake.import alter id drop identity",
      "column id of table quake.import has identity none instead of always",
      "sequence quake.import_id_seq of table quake.import is missing"),
    Deed(
      "alter table quake.change_transaction alter predecessor set default 'own'",
      "column predecessor of table quake.change_transaction has default 'own'::text instead of none"
    ),
    Deed(
      "alter table quake.feed alter failures drop default",
      "column failures of table quake.feed has default none instead of 0"),
    Deed(
      "alter table quake.feed alter etag set not null",
      "column etag of table quake.feed has null values refused instead of allowed"),
    Deed(
      "alter table quake.feed alter url drop not null",
      "column url of table quake.feed has null values allowed instead of refused"),
    Deed(
      "alter table quake.import_body alter part type bigint",
      "column part of table quake.import_body has type bigint instead of integer"),
    Deed("alter table quake.feed add own text", "column own of table quake.feed is not Quake's"),
    Deed(
      """
      create function public.own() returns text language sql as 'select current_user::text';
      alter table quake.quake add own text default public.own()
      """,
      "column own of table quake.quake is not Quake's"),
    Deed(
      "alter table quake.quake add own text not null",
      "column own of table quake.quake is not Quake's"),
    Deed(
      "create table public.own () inherits (quake.quake)",
      "child table public.own of table quake.quake is not Quake's"),
    Deed(
      "create table public.own (name text); alter table quake.feed inherit public.own",
      "child table quake.feed of table public.own is not Quake's"),
    Deed("drop table quake.association_pin", "table quake.association_pin is missing"),
    Deed(
      "alter sequence quake.token cache 20", "sequence quake.token has cache 20 instead of 1"),
    Deed(
      "alter sequence quake.token increment 2 cycle",
      "sequence quake.token has increment 2 instead of 1",
      "sequence quake.token has cycle yes instead of no"),
  ]

  private static let toSettings = [
    Deed(
      "do $$ begin execute format('alter database %I set session_replication_role = replica', current_database()); end $$",
      "the database sets session_replication_role=replica"),
    Deed(
      "do $$ begin execute format('alter role %I in database %I set quake.author = forged', current_user, current_database()); end $$",
      "role "),
    Deed(
      "alter role all set session_replication_role = replica",
      "alter role all sets session_replication_role=replica"),
  ]

  @Test(arguments: ServerVersion.usual)
  func eachChangeOfTheSchemaIsNamedAndUndone(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let connection = try database.connect()
    #expect(try SchemaDeviation.all(over: connection) == [])
    #expect(try SchemaDeviation.rights(over: connection) == [])
    for deed in Self.toTriggersAndPolicies + Self.toFunctions + Self.toTables + Self.toSettings {
      try connection.run("begin")
      try connection.executeScript(SQL(trusted: deed.statement))
      let found = try SchemaDeviation.all(over: connection)
      #expect(
        found.count == deed.texts.count
          && deed.texts.allSatisfy { text in found.contains { $0.text.hasPrefix(text) } }
          && !found.contains(where: \.isNote), "\(deed.statement): \(found)")
      for deviation in found where !deviation.statement.hasPrefix("--") {
        try connection.executeScript(SQL(trusted: deviation.statement))
      }
      // What has no statement is made anew by hand.
      #expect(
        try SchemaDeviation.all(over: connection).allSatisfy { $0.statement.hasPrefix("--") },
        "\(deed.statement)")
      try connection.run("rollback")
    }
    #expect(try SchemaDeviation.all(over: connection) == [])
  }

  @Test(arguments: ServerVersion.usual)
  func whatAnAdministratorAddsOnPurposeIsANote(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    let stranger = try database.makeRole("stranger")
    try database.connection.run(
      "create index own_magnitude on quake.quake (magnitude)",
      "create index own_region on quake.quake (quake.region(place)) where magnitude > 5",
      "create table quake.own (id bigint generated always as identity primary key, text text)",
      "create function quake.own(text) returns text language sql as 'select $1'",
      "create type quake.colour as enum ('red')",
      "create statistics quake.own_statistics on magnitude, depth from quake.quake",
      """
      alter table quake.quake add own text not null default 'mine',
        add own_point point generated always as (point(longitude, latitude)) stored
      """,
      // Tuning is no difference at all.
      "alter table quake.quake set (fillfactor = 80)",
      "alter table quake.quake alter place set statistics 500",
      "alter index quake.quake_time set (fillfactor = 80)",
      "comment on table quake.quake is 'ours'")
    let names = [
      "column own of table quake.quake", "column own_point of table quake.quake",
      "function quake.own(text)", "index quake.own_magnitude of table quake.quake",
      "index quake.own_region of table quake.quake", "statistics object quake.own_statistics",
      "table quake.own", "type quake.colour",
    ]
    #expect(try database.findings() == names.map { "note: \($0) is not Quake's" })
    // Those of another role are its own code or data among Quake's.
    try database.connection.run(
      "alter table quake.own owner to \(stranger)",
      "alter function quake.own(text) owner to \(stranger)",
      "alter type quake.colour owner to \(stranger)")
    let changed = ["function quake.own(text)", "table quake.own", "type quake.colour"]
    let expected: [String] =
      changed.map { "changed: \($0) is not Quake's" }
      + names.filter { !changed.contains($0) }.map { "note: \($0) is not Quake's" }
    #expect(try database.findings() == expected)
    let rights = try SchemaDeviation.rights(over: database.connection)
    #expect(
      rights.map { $0.text.replacing(database.names.prefix, with: "") } == [
        "function quake.own(text) belongs to role stranger, not to the owner of the schema",
        "table quake.own belongs to role stranger, not to the owner of the schema",
      ])
    // Each has a statement that puts it right.
    for finding in try RoleCheck.run(database.names, over: database.connection)
    where finding.kind == .changed || finding.isNote {
      try database.connection.executeScript(SQL(trusted: finding.statement))
    }
    #expect(try database.findings() == [])
  }

  @Test(arguments: ServerVersion.usual)
  func aSchemaOfAnotherVersionIsNotCompared(_ version: ServerVersion) throws {
    let database = try TestDatabase(on: version.server)
    let connection = try database.connect()
    let known = try connection.row("select max(version) from quake.migration", as: Int.self)
    for (change, hint) in [
      (
        "insert into quake.migration values (\(known + 1), 'later', '', now(), '')",
        "-- use a newer program"
      ),
      ("delete from quake.migration where version = \(known)", "-- quake-admin migrate"),
    ] {
      try connection.run("begin", change, "drop table quake.association_pin")
      let found = try SchemaDeviation.all(over: connection)
      #expect(found.count == 1)
      #expect(found.first?.text.contains("was not compared with version \(known)") == true)
      #expect(found.first?.statement == hint)
      try connection.run("rollback")
    }
  }

  @Test(arguments: ServerVersion.usual)
  func theCheckOfRolesListsWhatWasDoneToTheSchema(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    try database.connection.run("alter table quake.quake disable trigger quake_20_record_insert")
    let expected =
      "changed: trigger quake_20_record_insert of table quake.quake has state disabled instead of enabled"
    #expect(try database.findings() == [expected])
    // The monitor sees it, too, and a person decides.
    let monitor = try database.connect(as: .monitor)
    #expect(
      try RoleCheck.run(database.names, over: monitor).contains { $0.kind == .changed })
    _ = try RoleMaker(database.names, over: database.connection).make()
    #expect(try database.findings() == [expected])
  }

  @Test(arguments: ServerVersion.present)
  func whatOtherRolesMayDoMakeOrReadIsReported(_ version: ServerVersion) throws {
    let database = try RoledDatabase(on: version)
    let names = database.names
    let stranger = try database.makeRole("stranger")
    let creator = try database.makeRole("creator", "login createrole")
    let backup = try database.makeRole("backup")
    let dba = try database.makeRole("dba", "login superuser")
    try database.connection.run(
      "grant connect on database \(database.database.name) to \(stranger)",
      "grant usage, create on schema quake to \(stranger)",
      "grant update (place) on quake.quake_version to \(stranger)",
      "grant execute on function quake.request_refresh(text) to \(stranger)",
      "grant truncate, trigger on quake.feed to \(stranger)",
      "grant references (code) on quake.quake to \(stranger)",
      "grant usage on sequence quake.import_id_seq to \(names.name(.reader))",
      // More than a reader reads, and as much.
      "grant select on quake.feed to \(stranger)",
      "grant select on quake.change_pending to \(stranger)",
      "grant select (url) on quake.feed to \(backup)",
      "grant select, insert, delete on quake.quake to \(stranger)",
      "grant update on quake.feed to \(stranger)",
      "grant pg_read_all_data to \(backup)",
      "alter default privileges in schema quake grant select on tables to \(stranger)",
      "alter default privileges for role \(names.name(.owner)) grant execute on functions to \(stranger)",
      // Superusers may do all that, and Quake's roles are compared one by one.
      "grant create on schema quake to \(dba)", "grant all on quake.feed to \(dba)",
      "alter default privileges in schema quake grant select on tables to \(names.name(.reader))")
    let user = try #require(try database.connection.ask("select current_user"))
    var expected: Set = [
      "too many: role stranger has CREATE on schema quake",
      "too many: role stranger has UPDATE on table quake.quake_version",
      "too many: role stranger has DELETE on table quake.quake",
      "too many: role stranger has EXECUTE on function quake.request_refresh(text)",
      "too many: role stranger has TRUNCATE on table quake.feed",
      "too many: role stranger has TRIGGER on table quake.feed",
      "too many: role stranger has REFERENCES (code) on table quake.quake",
      "too many: role stranger has SELECT on table quake.feed",
      "too many: role stranger has SELECT on table quake.change_pending",
      "too many: role stranger has UPDATE on table quake.feed",
      "too many: role reader has USAGE on sequence quake.import_id_seq",
      "note: role backup has SELECT (url) on table quake.feed",
      "note: role stranger has SELECT on table quake.quake",
      "note: role stranger has INSERT on table quake.quake",
      "note: role backup reads all tables of the server, as a member of pg_read_all_data",
      "too many: role stranger will have SELECT on new tables of role \(user)",
      "too many: role stranger will have EXECUTE on new functions of role owner",
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
    let rights = try SchemaDeviation.rights(over: database.connection)
    #expect(
      rights.map { $0.text.replacing(names.prefix, with: "") } == [
        "role stranger has CREATE on schema quake", "role stranger has TRIGGER on table quake.feed",
        "role stranger has TRUNCATE on table quake.feed",
      ])
    // What one of them then makes is seen.
    let connection = try database.connect(as: stranger)
    try connection.run(
      "create function quake.find(varchar) returns text language sql as 'select current_user'")
    #expect(
      try database.findings().filter { $0.hasPrefix("changed") }.map {
        String($0.prefix { $0 != "," })
      } == ["changed: function quake.find(character varying) is not Quake's"])
    let findings = try RoleCheck.run(names, over: database.connection)
    // There may be notes about roles of other tests.
    #expect(RoleFinding.summary(of: findings).contains(" too many"))
    // Each statement undoes its own.
    for finding in findings where finding.role.hasPrefix(names.prefix) {
      try database.connection.executeScript(SQL(trusted: finding.statement))
    }
    #expect(try database.findings() == [])
    #expect(try SchemaDeviation.rights(over: database.connection) == [])
  }
}
