import Foundation
import Postgres
import TestSupport
import Testing

/// Names in the tools' statements refer to PostgreSQL's own objects, whatever objects other users
/// have created.
@Suite struct HostileNamesTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// How the tools reach the database.
  enum Route: String, CaseIterable {
    case direct, session, transaction
    /// A pooler that accepts the tools' startup parameter and ignores it.
    case forgetful
  }

  /// In `make soak` all of them, and the second version of PostgreSQL. Otherwise the forgetful pool, which leaves the
  /// most to the tools: `SearchPathTests` proves what a direct connection sets, and `OutsiderTests` tries the objects
  /// that match best, which are all that a database with the default search path finds, on both versions.
  private static var routes: [(Route, Bool, ServerVersion)] {
    guard Tools.isSoak else {
      return [(Pooler.program == nil ? Route.direct : .forgetful, true, .main)]
    }
    let routes = Pooler.program == nil ? [.direct] : Route.allCases
    return routes.map { ($0, true, .main) } + [(.direct, false, .main)]
      + ServerVersion.usual.filter { $0 != .main }.map { (.direct, true, $0) }
  }

  /// Runs tools as superuser, and expects that they have run no planted object.
  private struct Runner {
    let scene: HostileNames
    let conninfo: String

    func callAsFunction(_ tool: String, status: Int32 = 0, _ commands: [String]...) throws {
      for arguments in commands {
        let outcome = try Tools.run(tool, arguments + ["--database", conninfo]).expect(
          status, with: arguments)
        #expect(try scene.timesFired() == 0, "\(arguments): \(outcome.errors)")
        #expect(!outcome.errors.contains("planted"), "\(arguments): \(outcome.errors)")
      }
    }
  }

  @Test(arguments: routes)
  func noPlantedObjectRuns(_ route: Route, isCareless: Bool, version: ServerVersion) throws {
    let scene = try HostileNames(isCareless: isCareless, on: version)
    for (kind, count) in scene.planted { #expect(count > 0, "no \(kind) could be planted") }
    #expect((scene.planted["function"] ?? 0) > 100 && (scene.planted["operator"] ?? 0) > 100)
    // The traps work: a statement that relies on the search path runs them.
    #expect(try scene.fires(at: "select 1::bigint || 'x'::text"))
    if isCareless {
      for statement in [
        "select count(*) from pg_class", "select now()", "select 1 + 1", "select 'x'::text",
        "select * from pg_stat_activity",
      ] {
        #expect(try scene.fires(at: statement), "\(statement)")
      }
    }
    var pooler: Pooler?
    switch route {
    case .direct: break
    case .session, .transaction:
      pooler = try Pooler(route.rawValue, for: scene.database, user: scene.boss)
    case .forgetful:
      pooler = try Pooler(
        "transaction", for: scene.database, user: scene.boss,
        setting: "ignore_startup_parameters = options")
    }
    if route == .transaction || route == .forgetful, let pooler {
      try plantInSession(pooler.conninfo)
    }
    try runAll(Runner(scene: scene, conninfo: pooler?.conninfo ?? scene.conninfo), route)
    if let pooler, route != .session { try expectCleanSessions(pooler) }
    try pooler?.stop()
  }

  /// Temporary objects of the client that had the session before. A pool in session mode drops
  /// them.
  private func plantInSession(_ conninfo: String) throws {
    let planter = try ToolProcess(
      Tools.psql, ["-X", "-q", "-d", conninfo, "-v", "ON_ERROR_STOP=1"],
      environment: Tools.environment.merging(["PGOPTIONS": ""]) { $1 },
      input: folder.write(
        "session.sql",
        """
        begin;
        set local search_path = pg_catalog;
        create function pg_temp.trap_row() returns trigger language plpgsql as
          $$ begin perform trap.fire('temporary trigger'); return new; end $$;
        create temporary table quake_staging (record bigint, code text, reject_reason text);
        create trigger trap before insert on pg_temp.quake_staging
          for each row execute function pg_temp.trap_row();
        create temporary view quake as select trap.fire('temporary view') as code;
        create temporary view pg_stat_activity as select trap.fire('temporary view') as pid;
        create function pg_temp.now() returns timestamptz language plpgsql as
          $$ begin perform trap.fire('temporary function'); return null; end $$;
        commit;

        """))
    try planter.exit().expect(0)
  }

  /// The tools leave no setting in pooled sessions.
  private func expectCleanSessions(_ pooler: Pooler) throws {
    let psql = try ToolProcess(
      Tools.psql,
      ["-X", "-q", "-A", "-t", "-d", pooler.conninfo, "-c", "show search_path"],
      environment: Tools.environment)
    let outcome = try psql.exit()
    #expect(outcome.output == "\"$user\", public, pg_catalog\n", "\(outcome.errors)")
  }

  private func runAll(_ run: Runner, _ route: Route) throws {
    let database = run.scene.database
    try run("quake-admin", ["migrate", "--dry-run"], ["migrate"], ["migrate", "--status"])
    try runIngest(run, route)
    // Associations, decisions about them, and edits.
    try run(
      "quake-admin", ["associations", "list"], ["associations", "run"],
      ["associations", "split", "us3", "mine:3"], ["associations", "forget", "us3", "mine:3"],
      ["associations", "join", "us3", "mine:3"], ["associations", "show", "us3"],
      ["associations", "prefer", "mine,usgs"], ["associations", "settings", "--time", "20s"],
      ["events", "validate", "--min-magnitude", "4", "--yes"],
      ["events", "unvalidate", "us20", "--yes"], ["events", "set", "felt=3", "us21", "--yes"],
      ["events", "delete", "us22", "us23", "--yes"], ["events", "restore", "us22", "--yes"],
      ["events", "expire", "--older-than", "1d", "--limit", "1", "--yes"],
      ["associations", "disable"], ["associations", "enable"])
    #expect(try database.count("quake.association_pending") == 0)
    let token = try database.value("select quake.latest_token()")
    try run(
      "quake-query", ["list"],
      ["list", "--json", "--all", "--min-magnitude", "1", "--within", "100:35,-117"],
      ["list", "--as-of", token], ["list", "--count"], ["show", "us1"], ["history"],
      ["history", "--count"], ["history", "--descending", "--json"],
      ["history", "--since", "2020-01-01", "--code", "us1", "--author", "quake-ingest"],
      ["versions", "us1"], ["diff", "0"], ["diff", "0", token])
    try run(
      "quake-watch", ["--from-start", "--no-follow"], ["--from-start", "--json", "--no-follow"],
      ["--snapshot", "--no-follow"], ["--since", "2020-01-01", "--no-follow"],
      ["--from-start", "--name", "alerts", "--no-follow"])
    try watch(run)
    try run(
      "quake-admin", ["watchers"], ["watchers", "remove", "alerts", "--yes"], ["imports"],
      ["imports", "--quarantined", "--json"])
    let quarantined = try database.value(
      "select coalesce(max(id), 0) from quake.import where quarantined_at is not null")
    if quarantined != "0" {
      try run("quake-admin", ["imports", "body", quarantined], ["imports", "apply", quarantined])
    }
    try run(
      "quake-admin", status: route.keepsSessions ? 69 : 64, ["refresh", "--timeout", "1s"])
    try run(
      "quake-admin", ["status"], ["status", "--json"], ["status", "--prometheus"],
      ["history", "purge", "--before", token, "--dry-run"],
      ["history", "purge", "--yes", "--before", token])
  }

  private func runIngest(_ run: Runner, _ route: Route) throws {
    // Two of the records belong to one earthquake.
    let events =
      (1...30).map { Feeds.feature("us\($0)") } + [
        Feeds.feature("us31", changes: ["ids": "\",us31,ci31,\""]), Feeds.feature("ci31"),
        Feeds.feature("us32", coordinates: "1000,2000,3"),
      ]
    let file = try folder.write("feed.geojson", Feeds.collection(events))
    try run("quake-admin", ["associations", "enable"])
    // A solution of another source for each of the first events.
    let others = (1...10).map {
      Feeds.feature("mine:\($0)", time: 1_700_000_001_000, changes: ["quake:source": "\"mine\""])
    }
    let rows = (20...60).map { Feeds.row("us\($0)", magnitude: "4") + "\n" }.joined()
    try run(
      "quake-ingest", ["import", try folder.write("mine.geojson", Feeds.collection(others))],
      ["import", file], ["import", file], ["import", file, "--commit-every", "10", "--jobs", "2"],
      ["import", try folder.write("later.csv", Feeds.csvHeader + "\n" + rows)],
      ["import", file, "--merge", "store"], ["import", file, "--merge", "always", "--json"])
    let snapshots = folder.path + "/snapshots"
    try FileManager.default.createDirectory(atPath: snapshots, withIntermediateDirectories: false)
    for (hour, count) in [(10, 40), (11, 38), (12, 0), (13, 39), (14, 38), (15, 38)] {
      let now = 1_700_000_000_000 + hour * 3_600_000
      try folder.write(
        "snapshots/all_day_2023-11-15T\(hour)00Z.geojson",
        Feeds.collection(
          (0..<count).map { Feeds.feature("us\(1000 + $0)", time: now - 7_200_000) }, generated: now
        ))
    }
    try run("quake-ingest", ["replay", snapshots])
    // A backfill and a worker hold session locks, for which a transaction pool is unsuitable.
    guard route.keepsSessions else { return }
    let past = folder.path + "/past"
    try FileManager.default.createDirectory(atPath: past, withIntermediateDirectories: false)
    try folder.write("past/a.geojson", Feeds.collection(count: 5, from: 2000))
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 40).utf8))
    let once = ["run", "--once", "--feed", server.url]
    try run(
      "quake-ingest", ["backfill", past], once + ["--keep-history", "1h"],
      once + ["--keep-history", "1h"], once + ["--dry-run"])
  }

  /// The same for a watcher that waits for changes.
  private func watch(_ run: Runner) throws {
    let watch = try Tools.start(
      "quake-watch", ["--database", run.conninfo, "--json", "--from-start", "--name", "follower"])
    _ = try watch.line()
    try run.scene.database.connect().run("update quake.quake set felt = 4711 where code = 'us2'")
    var line = ""
    repeat { line = try watch.line() } while !line.contains("4711")
    let outcome = try watch.end()
    #expect(!outcome.errors.contains("planted"), "\(outcome.errors)")
    #expect(try run.scene.timesFired() == 0, "\(outcome.errors)")
  }
}

extension HostileNamesTests.Route {
  /// Whether sessions last as long as their clients.
  fileprivate var keepsSessions: Bool { self == .direct || self == .session }
}
