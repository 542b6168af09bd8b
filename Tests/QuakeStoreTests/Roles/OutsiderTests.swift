import Basics
import Postgres
import QuakeSchema
import QuakeWorker
import TestSupport
import Testing

/// The attacks of a role that has only the privilege to connect, each with its result.
@Suite struct OutsiderTests {
  /// A database with roles, and one that has only CONNECT.
  private final class Scene {
    let roled: RoledDatabase
    let outsider: Connection
    let role: String
    /// As the superuser.
    var admin: Connection { roled.connection }

    init(_ version: ServerVersion) throws {
      roled = try RoledDatabase(on: version)
      role = try roled.makeRole("outsider")
      try roled.connection.run("grant connect on database \(roled.database.name) to \(role)")
      outsider = try roled.connect(as: role)
    }

    /// As the writer. A statement that waits longer than this is blocked.
    func writer() throws -> Connection {
      let writer = try roled.connect(as: .writer)
      try writer.run("set lock_timeout = '3min'", "set statement_timeout = '3min'")
      return writer
    }

    /// Gives the outsider PostgreSQL's functions for advisory locks, as in a database in which nobody has taken them
    /// from PUBLIC.
    func allowLocks() throws {
      for function in try lockFunctions() {
        try admin.run("grant execute on function \(function) to \(role)")
      }
    }

    /// PostgreSQL's functions for advisory locks.
    func lockFunctions() throws -> [String] {
      try admin.table(
        """
        select oid::regprocedure from pg_proc
         where pronamespace = 'pg_catalog'::regnamespace and proname like '%advisory%'
        """)
    }

    func count(_ table: String) throws -> String? {
      try admin.ask("select count(*) from \(table)")
    }
  }

  @Test(arguments: ServerVersion.present)
  func anOutsiderHasNoPrivilegeOnAnything(_ version: ServerVersion) throws {
    let scene = try Scene(version)
    // This operation needs privileges on a row of the role's own.
    let operations = try Operation.all(scene.roled)
    #expect(operations.count > 600)
    for operation in operations {
      let error = try refusal(scene.outsider, operation.statement)
      #expect(
        error?.sqlState == "42501",
        "\(operation.statement): \(error.map { "\($0)" } ?? "done")")
    }
    #expect(try scene.roled.findings() == [])
  }

  @Test(arguments: ServerVersion.present)
  func anOutsiderCannotConnectWithoutThePrivilegeConnect(_ version: ServerVersion) throws {
    let roled = try RoledDatabase(on: version)
    let role = try roled.makeRole("outsider")
    let error = try #require(throws: PostgresError.self) { _ = try roled.connect(as: role) }
    #expect(error.message.contains("permission denied for database"), "\(error)")
  }

  @Test(arguments: ServerVersion.present)
  func anOutsiderCannotFillTheLockTable(_ version: ServerVersion) throws {
    let scene = try Scene(version)
    let functions = try scene.lockFunctions()
    #expect(functions.count >= 21)
    // Large objects are locked one by one when they are removed.
    for function in functions + [
      "lo_create(oid)", "lo_creat(integer)", "lo_from_bytea(oid, bytea)",
    ] {
      let name = function.prefix { $0 != "(" }
      let types = function.dropFirst(name.count + 1).dropLast().split(separator: ",")
      let arguments = types.map { $0.hasSuffix("bytea") ? "''" : "0::\($0)" }
      let error = try refusal(
        scene.outsider, "select \(name)(\(arguments.joined(separator: ", ")))")
      #expect(error?.sqlState == "42501", "\(function): \(error.map { "\($0)" } ?? "done")")
    }
    // The writer has the two that it needs.
    let writer = try scene.writer()
    try writer.run("insert into quake.feed (name, url) values ('all_hour', 'https://example.org')")
    #expect(try FeedLock.acquire(["all_hour"], over: writer).map(\.feed) == ["all_hour"])
    #expect(
      try Backfill.open(
        Backfill.Parameters(url: "/files", source: nil), restart: false, over: writer
      ).isResumed == false)
    #expect(
      try writer.table(
        """
        select oid::regprocedure from pg_proc
         where pronamespace = 'pg_catalog'::regnamespace and proname like '%advisory%'
           and has_function_privilege(oid, 'execute') order by 1
        """
      ).count == 2)
  }

  @Test(arguments: ServerVersion.usual)
  func anOutsiderCannotStopCommitsWithLocksThatEarlierVersionsTook(_ version: ServerVersion) throws
  {
    let scene = try Scene(version)
    try scene.allowLocks()
    // 'quake' in ASCII followed by 01, and by 02 for migrations; in both forms, shared and not.
    try scene.outsider.run(
      "select pg_advisory_lock(x'7175616b6501'::bigint)",
      "select pg_advisory_lock(x'7175616b6502'::bigint)",
      "select pg_advisory_lock_shared(x'7175616b6501'::bigint)")
    for number in 0..<256 {
      try scene.outsider.run(
        "select pg_advisory_lock(x'7175616b65\(number < 16 ? "0" : "")\(String(number, radix: 16))'::bigint)"
      )
    }
    let writer = try scene.writer()
    try writer.run("insert into quake.quake (code, time) values ('a', now())")
    #expect(try scene.count("quake.change_transaction") == "1")
    #expect(
      try Migrator(connection: scene.roled.connect(as: .owner), program: "tests").migrate().isEmpty)
  }

  @Test(arguments: ServerVersion.usual)
  func anOutsiderCannotStopCommitsWithAnAbandonedPreparedTransaction(_ version: ServerVersion)
    throws
  {
    let scene = try Scene(version)
    try scene.allowLocks()
    let name = scene.roled.names.prefix
    let connection = try scene.roled.connect(as: scene.role)
    try connection.run(
      "begin", "select pg_advisory_xact_lock(x'7175616b6501'::bigint)",
      "select pg_advisory_xact_lock(1903518059, key) from generate_series(-100, 100) key",
      "prepare transaction '\(name)'")
    defer { _ = try? scene.admin.run("rollback prepared '\(name)'") }
    let writer = try scene.writer()
    try writer.run("insert into quake.quake (code, time) values ('a', now())")
    #expect(try scene.count("quake.change_transaction") == "1")
  }

  @Test(arguments: ServerVersion.usual)
  func anOutsiderCannotKeepAFeedFromItsWorker(_ version: ServerVersion) throws {
    let scene = try Scene(version)
    let writer = try scene.writer()
    try scene.allowLocks()
    let names = ["all_hour", "all_day"]
    for name in names {
      try writer.execute(
        "insert into quake.feed (name, url) values ($1, 'https://example.org')", [.text(name)])
      // The key as quake.feed_lock_key once computed it, which any role can.
      try scene.outsider.execute(
        "select pg_advisory_lock(1903518059, ('x' || left(md5($1), 8))::bit(32)::integer)",
        [.text(name)])
    }
    // And as many of the possible keys of a feed's lock as the server has memory for.
    try scene.outsider.run(
      "select pg_advisory_lock(1903518059, key) from generate_series(-1000, 1000) key")
    #expect(Set(try FeedLock.acquire(names, over: writer).map(\.feed)) == Set(names))
    #expect(
      try scene.admin.table("select name from quake.feed_status where held order by name")
        == names.sorted())
  }

  @Test(arguments: ServerVersion.usual)
  func anOutsiderHearsTokensAuthorsAndCountsOnTheChannelAndNothingElse(_ version: ServerVersion)
    throws
  {
    let scene = try Scene(version)
    try scene.outsider.run("listen quake_changes", "listen quake_refresh", "listen quake_refreshed")
    let writer = try scene.writer()
    try writer.run(
      "set quake.author = 'somebody'", "set quake.context = 'secret'",
      "insert into quake.quake (code, time, place) values ('hidden', now(), 'hidden')")
    let deadline = Deadline(after: ToolProcess.patience)
    var heard: [ServerNotification] = []
    while heard.isEmpty, scene.outsider.wait(until: deadline) == .ready {
      heard = try scene.outsider.takeNotifications()
    }
    let text = try #require(heard.first?.payload)
    #expect(text.contains("somebody"))
    #expect(!text.contains("hidden") && !text.contains("secret"))
    #expect(
      try scene.admin.table("select key from json_each('\(text)') order by key")
        == ["author", "deleted", "inserted", "token", "truncated", "updated"])
  }

  @Test(arguments: ServerVersion.usual)
  func anOutsiderChangesNothingWithItsOwnNotifications(_ version: ServerVersion) throws {
    let scene = try Scene(version)
    let reader = try scene.roled.connect(as: .reader)
    try reader.run("listen quake_changes")
    try scene.outsider.run(
      """
      select pg_notify(channel, format('{"token" : "%s.00000000", "author" : "forged"}', n))
        from generate_series(1, 10000) n,
             unnest('{quake_changes,quake_refresh,quake_refreshed}'::text[]) channel
      """)
    let writer = try scene.writer()
    try writer.run("insert into quake.quake (code, time) values ('a', now())")
    #expect(try reader.table("select code from quake.changes_since('0')") == ["a"])
  }

  @Test(arguments: ServerVersion.present)
  func anOutsiderCannotUseQuakesTriggerFunctionsOnItsOwnTables(_ version: ServerVersion) throws {
    let scene = try Scene(version)
    try scene.admin.run("grant create on schema public to \(scene.role)")
    try scene.outsider.run("create table public.own (a integer)")
    let functions = try scene.admin.table(
      """
      select 'quake.' || proname || '()' from pg_proc
       where pronamespace = 'quake'::regnamespace and prorettype = 'trigger'::regtype
      """)
    #expect(functions.count >= 6)
    for function in functions {
      for event in ["insert", "update", "delete"] {
        let error = try refusal(
          scene.outsider,
          """
          create trigger own after \(event) on public.own for each row execute function \(function)
          """)
        #expect(error?.sqlState == "42501", "\(function)")
      }
    }
  }

  @Test(arguments: ServerVersion.present)
  func anOutsiderRunsNoCodeAsOthersFromTheSchemaPublic(_ version: ServerVersion) throws {
    let scene = try Scene(version)
    let role = scene.role
    try scene.admin.run(
      "grant create on schema public to \(role)", "create table public.trap (who text)",
      "grant insert on public.trap to public")
    // Each says who ran it.
    try scene.outsider.run(
      """
      create function public.spring(anyelement) returns text language plpgsql security invoker as
      $$ begin insert into public.trap values (current_user); return ''; end $$
      """,
      """
      create function public.spring(bigint, text) returns text language plpgsql as
      $$ begin insert into public.trap values (current_user); return ''; end $$
      """,
      "create operator public.|| (function = public.spring, leftarg = bigint, rightarg = text)",
      """
      create function public.equal(text, text) returns boolean language plpgsql as
      $$ begin insert into public.trap values (current_user); return true; end $$
      """,
      "create operator public.= (function = public.equal, leftarg = text, rightarg = text)",
      "create function public.format(text, bigint, text, text, bigint, bigint, bigint, bigint) returns text language plpgsql as $$ begin insert into public.trap values (current_user); return ''; end $$",
      "create function public.left(text, bigint) returns text language plpgsql as $$ begin insert into public.trap values (current_user); return ''; end $$",
      "create function public.count(text) returns bigint language plpgsql as $$ begin insert into public.trap values (current_user); return 0; end $$",
      "create table public.quake (code text, time timestamptz)",
      "create table public.change_pending (xid xid8)")
    for connection in [scene.admin, try scene.writer()] {
      try connection.run(
        "set search_path = public, quake",
        "insert into quake.quake (code, time) values ('by \(connection.serverProcessID)', now())",
        "update quake.quake set felt = 1 where code operator(pg_catalog.=) 'x'")
    }
    // Quake's functions and views, as the superuser; other tests cover the statements of the tools.
    try scene.admin.run(
      "select * from quake.changes_since('0')", "select * from quake.watcher_lag",
      "select * from quake.find('x')", "select * from quake.versions('x')",
      "select quake.purge_history(10)", "select quake.latest_token()",
      "select quake.token_at(now())")
    #expect(try scene.count("public.quake") == "0")
    #expect(try scene.admin.table("select who from public.trap") == [])
  }

  @Test(arguments: ServerVersion.usual)
  func anOutsiderChangesNothingBySettingQuakeParameters(_ version: ServerVersion) throws {
    let scene = try Scene(version)
    try scene.outsider.run(
      "begin", "set quake.pending = '(0,1)'", "set quake.import = '1'", "set quake.author = 'x'",
      "set quake.context = 'x'", "commit")
    #expect(try scene.count("quake.change_transaction") == "0")
    #expect(try scene.count("quake.change_pending") == "0")
  }
}
