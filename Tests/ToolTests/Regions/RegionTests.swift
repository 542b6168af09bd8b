import Foundation
import TestSupport
import Testing

/// A region answers as its centre does, and takes nothing from anybody else.
@Suite struct RegionTests {
  @Test func readersOfARegionGetTheBytesOfItsCentre() throws {
    let scene = try RegionScene()
    let folder = try TemporaryFolder()
    let feed = try folder.write("a.geojson", Feeds.collection(count: 20))
    try scene.centre.succeed("quake-ingest", ["import", feed])
    try scene.centre.succeed(
      "quake-admin", ["events", "set", "magnitude=5.0", "us1", "--author", "alice", "--yes"])
    let made = try scene.create().requireSuccess()
    #expect(made.output.contains("is region \"\(scene.name)\" of"))

    // They were started before the changes, and are told of each.
    let watchers = try [scene.centre, scene.region].map {
      try Tools.start("quake-watch", ["--json", "--from-start"] + $0.option)
    }
    var lines = try watchers.map { try $0.lines(21) }
    let next = try folder.write(
      "b.geojson", Feeds.collection(count: 25, magnitude: "2.7", generated: 1_700_000_200_000))
    try scene.centre.succeed("quake-ingest", ["import", next])
    try scene.centre.psql(
      """
      begin; set local quake.author = 'bob';
      delete from quake.quake where code = 'us3'; update quake.quake set place = 'Ω' where code = 'us4'; commit;
      truncate quake.quake;
      insert into quake.quake (code, time) values ('after', '2026-11-20 13:00Z');
      """)
    let count = Int(try scene.centre.value("select count(*) from quake.changes_since('0')")) ?? 0
    for (index, watcher) in watchers.enumerated() { lines[index] += try watcher.lines(count - 21) }
    #expect(lines[0] == lines[1])

    // A cursor moves in the middle, and back.
    let token = try #require(try JSONLine(lines[0][30]).string("token"))
    let rest = try scene.both("quake-watch", "--json", "--after", token, "--no-follow")
    #expect(rest.centre == rest.region && !rest.region.isEmpty)
    for arguments in [["list", "--json"], ["versions", "us4", "--json"], ["diff", token, "now"]] {
      let answers = try [scene.centre, scene.region].map {
        try Tools.succeed("quake-query", arguments + $0.option).output
      }
      #expect(answers[0] == answers[1] && !answers[0].isEmpty, "\(arguments)")
    }
    try scene.region.succeed("quake-query", ["verify"])
    let servers = try [scene.centre, scene.region].map { try ServerProcess($0) }
    for path in ["/v1/quakes?limit=100", "/v1/quakes/after/versions", "/v1/table"] {
      let answers = try servers.map { try $0.get(path) }
      #expect(answers[0].status == 200 && answers[0].text == answers[1].text, "\(path)")
    }
    for server in servers { try server.stop() }

    try scene.waitUntilWell()
    try scene.create().expect(0, printing: "is as it should be")
  }

  @Test func localWritersAreRefusedAndToldWhatToDo() throws {
    let scene = try RegionScene.made()
    let folder = try TemporaryFolder()
    let file = try folder.write("a.geojson", Feeds.collection(count: 2))
    let commands: [(String, [String])] = [
      ("quake-ingest", ["import", file]),
      ("quake-ingest", ["run", "--once", "--feed", file]),
      ("quake-admin", ["events", "set", "magnitude=5", "us1", "--yes"]),
      ("quake-admin", ["events", "delete", "us1", "--yes"]),
      ("quake-admin", ["associations", "enable"]),
      ("quake-admin", ["history", "purge", "--before", "now", "--yes"]),
    ]
    for (tool, arguments) in commands {
      try scene.region.run(tool, arguments).expect(
        77, "cannot write to region \"\(scene.name)\", which is a copy of its centre",
        "run at the centre", with: arguments)
    }
    let connection = try scene.region.connect()
    for statement in [
      "insert into quake.quake (code, time) values ('local', now())", "truncate quake.quake",
      "delete from quake.quake_version", "update quake.history_floor set token = 1",
    ] {
      #expect(throws: (any Error).self) { try connection.run(statement) }
    }
    // What a reader has is its own.
    try scene.region.succeed("quake-watch", ["--name", "w", "--from-start", "--no-follow"])
    #expect(
      try scene.both("quake-query", "list").centre == scene.both("quake-query", "list").region)

    try scene.run("drop", "--yes").expect(0, errors: "")
    #expect(
      try scene.centre.value(
        """
        select (select count(*) from pg_replication_slots where slot_name like '%\(scene.name)')
             + (select count(*) from pg_publication) + (select count(*) from quake.regional_database)
        """) == "0")
    let next = try folder.write("b.geojson", Feeds.collection(count: 2, from: 50))
    try scene.region.succeed("quake-ingest", ["import", next])
    try scene.region.psql("insert into quake.quake (code, time) values ('local', now())")
    try scene.region.succeed("quake-query", ["verify"])
    #expect(try scene.region.value("select split_part(quake.latest_token(), '.', 1)") == "5")
    #expect(try scene.run("check").errors.contains("is no region"))
  }

  @Test func aReaderThatIsAheadOfTheRegionWaits() throws {
    let scene = try RegionScene.made()
    let connection = try scene.region.connect()
    try connection.run("alter subscription \(scene.subscription) disable")
    try eventually("its worker has ended") {
      try scene.region.value(
        """
        select count(*) from pg_stat_subscription where subname = '\(scene.subscription)' and pid is not null
        """) == "0"
    }
    try scene.write(2)
    let newest = try scene.centre.value("select quake.latest_token()")
    let watch = try scene.region.start("quake-watch", ["--json", "--after", newest])
    try watch.waitForError("Waiting for the region to catch up")
    let server = try ServerProcess(scene.region)
    let stream = try ChangeStream(server.url, after: newest)
    try server.process.waitForError("does not have yet what a client has read")
    try connection.run("alter subscription \(scene.subscription) enable")
    try scene.write(1)
    #expect(try JSONLine(watch.line()).string("code") == "us6")
    // Neither a reset nor a list, which would be older.
    #expect(try stream.next().code == "us6")
    stream.end()
    try server.stop()
  }

  /// A worker that follows another one confirms to the centre what that one has applied.
  @Test func aCrashRightAfterANewWorkerLosesNothing() throws {
    let centre = try TestDatabase(on: .centre)
    let own = try OwnServer(settings: ["wal_retrieve_retry_interval": "100ms"])
    try Tools.succeed(
      "quake-admin",
      ["region", "create", centre.name, "--centre", centre.conninfo, "-d", own.conninfo])
    defer { _ = try? Tools.run("quake-admin", ["region", "drop", "--yes", "-d", own.conninfo]) }
    // Nothing but the worker of the subscription flushes what it has written.
    let writer = try own.server.ask(
      "select pid from pg_stat_activity where backend_type = 'walwriter'")
    kill(try #require(pid_t(writer)), SIGSTOP)
    func write(_ code: String) throws {
      try centre.psql("insert into quake.quake (code, time) values ('\(code)', now())")
      let newest = try centre.value("select quake.latest_token()")
      try eventually("the region has \(newest)") {
        try own.server.ask("select quake.latest_token()") == newest
      }
    }
    try write("us1")
    let end = try centre.value("select pg_current_wal_lsn()")
    try own.server.ask(
      "select pg_terminate_backend(pid) from pg_stat_subscription where pid is not null")
    try eventually("another worker confirms it") {
      try centre.value(
        """
        select confirmed_flush_lsn >= '\(end)' from pg_replication_slots
         where slot_name = 'quake_region_\(centre.name)'
        """) == "t"
    }
    try own.crash()
    try write("us2")
    #expect(try own.server.ask("select code from quake.quake order by 1") == "us1\nus2")
    try Tools.succeed("quake-query", ["verify", "-d", own.conninfo])
  }

  @Test func aPurgeAtTheCentreLeavesWhatACursorOfTheRegionNeeds() throws {
    let scene = try RegionScene.made()
    let watch = ["--name", "slow", "--json", "--no-follow", "--from-start"]
    #expect(try scene.region.succeed("quake-watch", watch).lines.count == 3)
    let connection = try scene.centre.connect()
    for magnitude in 4..<8 {
      try connection.run(
        "update quake.quake set magnitude = \(magnitude), time = time + interval '2 hours'")
    }
    try scene.waitForRegion()
    func purge() throws {
      try scene.centre.succeed("quake-admin", ["history", "purge", "--before", "now", "--yes"])
      // Only of what is left.
      try connection.run("select quake.note_past(1000)")
      // The row of this transaction arrives after those of the purge.
      try scene.write(1)
      try scene.waitForRegion()
    }
    func state(_ database: TestDatabase) throws -> [String] {
      try database.column(
        """
        select format('%s %s', token, purged_to) from quake.history_floor
        union all select format('%s %s %s', transaction_id, id, code) from quake.quake_version
        union all select format('%s %s', token, nonce) from quake.change_transaction order by 1
        """)
    }
    try purge()
    #expect(try scene.centre.value("select token from quake.history_floor") == "7")
    #expect(try scene.region.value("select token from quake.history_floor") == "3")
    let missing = try scene.region.value(
      """
      select count(*)
        from quake.change_transaction t
       cross join lateral (select t.token || '.' || t.nonce) p (point)
       cross join lateral quake.as_of(p.point) q
       where t.token >= 3 and not exists (
               select from quake.as_of(p.point, date_trunc('hour', q.time),
                                       date_trunc('hour', q.time) + interval '1 hour') w
                where w.code = q.code)
      """)
    #expect(missing == "0")
    // The changes are still there that only this watcher needs.
    let late = try scene.region.succeed("quake-watch", watch)
    #expect(late.lines.count == 4 * 3 + 1)
    try connection.run("update quake.quake set magnitude = 8")
    try scene.waitForRegion()
    try scene.region.succeed("quake-watch", watch)
    try purge()
    #expect(try state(scene.centre) == state(scene.region))
    #expect(try scene.region.value("select token from quake.history_floor") == "9")
    try scene.region.succeed("quake-query", ["verify"])
  }

  @Test func theRolesOfARegionReadIt() throws {
    let scene = try RegionScene.made()
    let prefix = scene.name + "_"
    try scene.region.succeed("quake-admin", ["roles", "create", "--prefix", prefix])
    defer {
      _ = try? scene.region.run("quake-admin", ["roles", "drop", "--yes", "--prefix", prefix])
    }
    try scene.write(1)
    try scene.waitForRegion()
    let reader = scene.region.conninfo + " user=\(prefix)reader"
    #expect(try Tools.succeed("quake-query", ["list", "-d", reader]).lines.count == 4)
    #expect(try Tools.run("quake-admin", ["status", "-d", reader]).output.contains("had all of"))
    // The subscription's worker goes on with tables of another owner, and the rows of a purge.
    try scene.centre.succeed("quake-admin", ["history", "purge", "--before", "now", "--yes"])
    try scene.write(1)
    try scene.waitForRegion()
    #expect(try scene.region.value("select token from quake.history_floor") == "4")
    try scene.waitUntilWell()
  }
}
