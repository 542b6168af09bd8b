import EmbeddedPostgres
import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

/// The next release migrates the database while the programs of this one are at work.
@Suite struct UpgradeTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder
  private let known: Int

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
    known = try Int(database.value("select max(version) from quake.migration")) ?? 0
  }

  /// A column of the events, which a trigger fills in rows that old programs write, and a migration in batches in the
  /// others.
  private func expansion() -> [String] {
    [
      """
      -- oldest schema: \(known)
      alter table quake.quake add column hemisphere text;
      create function quake.quake__fill_hemisphere() returns trigger language plpgsql
        set search_path = pg_catalog, pg_temp
      as $$ begin new.hemisphere := case when new.latitude < 0 then 'south' else 'north' end; return new; end $$;
      create trigger quake_05_fill_hemisphere before insert or update on quake.quake
        for each row execute function quake.quake__fill_hemisphere();
      """,
      """
      -- oldest schema: \(known)
      -- in batches
      with batch as materialized (
        select code from quake.quake where code > coalesce($1, '') order by code limit 5000
      ), changed as (
        update quake.quake q set hemisphere = case when q.latitude < 0 then 'south' else 'north' end
          from batch b where q.code = b.code and q.hemisphere is null returning q.code
      )
      select max(b.code), (select count(*) from changed) from batch b
      """,
    ]
  }

  private func endSessions() throws {
    try database.psql(
      """
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'quake-%';
      """)
  }

  @Test func programsAtWorkLoseNothingAndAnswerWhileTheNextReleaseMigrates() throws {
    let count = Tools.isSoak ? 5_000_000 : 20_000
    for first in stride(from: 1, through: count, by: 500_000) {
      try database.psql(
        """
        insert into quake.quake (code, time, latitude, longitude)
        select 'old' || n, now() - n * interval '1 s', n % 180 - 90, 0
          from generate_series(\(first), \(min(count, first + 499_999))) n;
        """)
    }
    // As autovacuum does within a minute: without statistics, lists are read by a sequential scan.
    try database.psql("analyze quake.quake;")
    let server = try ServerProcess(database)
    let watcher = try database.start("quake-watch", ["--json"])
    try watcher.waitForError("watching")
    let feed = try folder.write("feed.geojson", Feeds.collection(count: 3))
    let worker = try database.start("quake-ingest", ["run", "--feed", "\(feed)@1s"])
    try eventually("the worker has imported") {
      try database.value("select count(*) from quake.quake where code not like 'old%'") == "3"
    }

    let isDone = Atomic<Bool>(false)
    let times = Mutex<[Duration]>([])
    let written = Tally()
    let (store, scripts, port) = (database, expansion(), server.port)
    try BackgroundThread.run(3) { number in
      switch number {
      case 0:
        defer { isDone.store(true, ordering: .relaxed) }
        var rows: Int64 = 0
        try store.migrateToNextRelease(scripts) { rows = $0 }
        #expect(rows >= Int64(count) - 100, "\(rows)")
      case 1:
        let connection = try store.connect()
        repeat {
          written.add(1)
          try connection.execute(
            "insert into quake.quake (code, time) values ($1, now())",
            [.text("new\(written.total)")])
        } while !isDone.load(ordering: .relaxed)
      default:
        repeat {
          let begun = ContinuousClock.now
          let answer = try RawConnection(port: port).request(
            "GET", "/v1/quakes?limit=5", ["Connection": "close"])
          try #require(answer.status == 200, "\(answer.text)")
          let time = ContinuousClock.now - begun
          times.withLock { $0.append(time) }
        } while !isDone.load(ordering: .relaxed)
      }
    }
    // The quiet machine of the soak keeps the promise exactly.
    if Tools.isSoak {
      let long = times.withLock { $0.filter { $0 > .seconds(1) } }
      #expect(long.isEmpty, "\(long.count) of \(times.withLock { $0.count }) reads: \(long)")
    }
    #expect(try database.value("select count(*) from quake.quake where hemisphere is null") == "0")

    // They connect again, and go on.
    try endSessions()
    try server.process.waitForError("This program is older than the schema of")
    try watcher.waitForError("this program is older than the schema of")
    try worker.waitForError("this program is older than the schema of")
    try database.psql("insert into quake.quake (code, time) values ('last', now());")
    try server.waitUntilReady()
    #expect(try server.get("/v1/quakes?limit=5").status == 200)
    var seen: [String] = []
    while seen.last != "last" {
      let line = try JSONLine(try watcher.line())
      if let code = line.string("code"), !code.hasPrefix("us") { seen.append(code) }
    }
    #expect(seen == (1...written.total).map { "new\($0)" } + ["last"])
    try database.run("quake-query", ["list", "--limit", "1"]).expect(0, "older than the schema")
    try database.run("quake-admin", ["migrate"]).expect(0, "older than the schema")
    for program in [watcher, worker] {
      let outcome = try program.end()
      #expect(outcome.errors.matches(of: #/older than the schema/#).count == 1, "\(outcome.errors)")
    }
    try server.stop()
  }

  @Test func programsThatMayNotGoOnEndWithStatus78() throws {
    let server = try ServerProcess(database)
    let watcher = try database.start("quake-watch", [])
    try watcher.waitForError("watching")
    let feed = try folder.write("feed.geojson", Feeds.collection(count: 3))
    let worker = try database.start("quake-ingest", ["run", "--feed", "\(feed)@1s"])
    try eventually("the worker has imported") { try database.count("quake.quake") == 3 }
    // A release may forbid what the release before it has allowed.
    try database.migrateToNextRelease(["-- oldest schema: \(known)\nselect 1"])
    try database.migrateToNextRelease(["select 2"])
    #expect(try server.get("/readyz").status == 503)
    try endSessions()
    for program in [server.process, watcher, worker] {
      try program.exit().expect(78, "the database is newer than this program")
    }
  }

  @Test func statusAndADryRunSayThatTheSchemaIsNewer() throws {
    try database.migrateToNextRelease(["-- oldest schema: \(known)\nselect 1"])
    let status = try database.run("quake-admin", ["status"])
    #expect(status.output.contains("version \(known + 1), newer than this program's \(known)"))
    try database.run("quake-admin", ["migrate", "--dry-run"]).expect(0, "older than the schema")
  }

  @Test func migrationsBeforeOneThatFailsStayAndAreNamed() throws {
    let empty = try TestDatabase.empty()
    try empty.psql(
      """
      create function public.refuse() returns event_trigger language plpgsql as $$ begin
        if exists (select from pg_event_trigger_ddl_commands() where object_identity = 'quake.watcher') then
          raise exception 'refused';
        end if;
      end $$;
      create event trigger refuse on ddl_command_end execute function public.refuse();
      """)
    let outcome = try empty.run("quake-admin", ["migrate"])
    #expect(outcome.status != 0 && outcome.errors.contains("refused"), "\(outcome.errors)")
    let applied = try empty.count("quake.migration")
    #expect(applied > 0 && outcome.lines.count == applied, "\(outcome.output)")
    #expect(outcome.lines.first == "applied migration 1 (events)")
  }
}
