import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// What a region says when somebody uses it in a wrong way; docs/regions.md has the table.
@Suite struct RegionMisuseTests {
  @Test func aRegionThatStoppedSaysSoEverywhere() throws {
    let scene = try RegionScene.made()
    try scene.waitUntilWell()
    let server = try ServerProcess(scene.region)
    try server.waitUntilReady("?max-lag=1h")
    try eventually("its lag is known") {
      try scene.region.run("quake-admin", ["status", "--prometheus"]).output
        .contains("quake_region_lag_seconds{region=\"\(scene.name)\"}")
    }
    let known = try scene.region.run("quake-admin", ["status", "--json"])
    let region = try #require(try JSONLine(known.output)["region"])
    #expect(region.string("name") == scene.name && region.integer("errors") == 0)
    #expect(region.double("lag_seconds") != nil && region.integer("behind_bytes") != nil)
    let served = try server.get("/metrics").text
    #expect(served.contains("quake_region_running{region=\"\(scene.name)\"} 1"), "\(served)")
    for command in [["refresh"], ["feeds", "pause", "all_day"]] {
      try scene.region.run("quake-admin", command).expect(
        64, "there is no feed at region \"\(scene.name)\"", "at the centre")
    }
    let connection = try scene.region.connect()
    try connection.run("alter subscription \(scene.subscription) disable")
    try eventually("its worker has ended") {
      try server.get("/readyz?max-lag=1h").status == 503
    }
    try eventually("without a limit it is ready") { try server.get("/readyz").status == 200 }
    try server.stop()
    let words = "the subscription of region \(scene.name) is disabled"
    try scene.region.run("quake-admin", ["status"]).expect(1, words)
    let metrics = try scene.region.run("quake-admin", ["status", "--prometheus"])
    #expect(metrics.output.contains("quake_region_running{region=\"\(scene.name)\"} 0"))
    let doctor = try scene.region.run("quake-admin", ["doctor"])
    #expect(doctor.output.contains("problem: region: \(words)"), "\(doctor.output)")
    #expect(try scene.check("subscription").found == words)
    try eventually("its slot is not read") {
      try scene.check("slot").found.hasPrefix(
        "nobody reads \(scene.subscription), which keeps ")
    }
    #expect(try scene.create().status == 0)
    try scene.waitUntilWell()
  }

  @Test func anErrorOfTheWorkersIsNamedUntilItIsMended() throws {
    let scene = try RegionScene.made()
    // The owner of the centre adds a column there first.
    try scene.centre.psql("alter table quake.quake add column note text")
    #expect(
      try scene.check("columns").found
        == "the region lacks note of quake.quake, which the centre has")
    try scene.write(1)
    try eventually("the worker has failed") {
      try scene.region.value("select sum(apply_error_count) from pg_stat_subscription_stats") != "0"
    }
    try eventually("the region is not connected for long enough to be caught") {
      try scene.check("subscription").found.hasPrefix(
        "region \(scene.name) is not connected to its centre; its workers have failed ")
    }
    try scene.region.psql("alter table quake.quake add column note text")
    try scene.waitForRegion()

    // Triggers are switched off.
    try scene.region.psql(
      """
      alter table quake.quake disable trigger region_10_refuse_write;
      alter table quake.change_transaction enable trigger region_20_notify;
      """)
    #expect(
      try scene.check("triggers").found
        .hasPrefix("2 triggers of the region not enabled as needed: "))
    #expect(try scene.create().status == 0)
    try scene.waitUntilWell()
    try scene.write(1)
    try scene.waitForRegion()
  }

  /// Names of subscriptions belong to a database, and statistics of all databases are in one view.
  @Test func anotherDatabaseOfTheServerMayHaveARegionOfThatName() throws {
    let scene = try RegionScene()
    let other = try TestDatabase(on: .region)
    try other.psql(
      """
      create subscription \(scene.subscription) connection '' publication other
        with (connect = false, enabled = false, slot_name = none)
      """)
    defer { _ = try? other.psql("drop subscription \(scene.subscription)") }
    try scene.write(1)
    try scene.centre.psql("alter table quake.quake add column note text")
    let refused = try scene.create("--timeout", "30s")
    #expect(
      refused.errors.contains(
        "the workers of subscription \(scene.subscription) cannot copy the tables"),
      "\(refused.errors)")
    try scene.region.psql("alter table quake.quake add column note text")
    try eventually("the tables are copied") { try scene.create("--timeout", "30s").status == 0 }
  }

  @Test func aPublicationThatLeavesSomethingOutNeedsANewCopy() throws {
    let scene = try RegionScene.made()
    let faults = [
      (
        "alter publication quake_region drop table quake.tombstone",
        "quake_region lacks quake.tombstone"
      ),
      (
        "alter publication quake_region set (publish = 'insert')",
        "quake_region does not publish update"
      ),
      (
        "alter publication quake_region_history set table quake.quake_version where (id < 0)",
        "quake_region_history has only some rows of quake.quake_version"
      ),
    ]
    for (mistake, found) in faults {
      try scene.centre.psql("\(mistake); delete from quake.quake")
      try scene.write(2)
      let check = try scene.check("publications")
      #expect(check.state == "problem" && check.found.contains(found), "\(check)")
      #expect(check.next?.contains("--anew") == true)
      try scene.create().expect(1, found, "Add --anew")
      try scene.create("--anew").requireSuccess()
      try scene.waitForRegion()
      #expect(try scene.check("publications").state == "ok")
      #expect(try scene.centre.history() == scene.region.history())
    }
    try scene.waitUntilWell()
  }

  @Test func aSubscriptionThatDoesNotFlushIsCorrected() throws {
    let scene = try RegionScene.made()
    try scene.region.psql("alter subscription \(scene.subscription) set (synchronous_commit = off)")
    let check = try scene.check("publications")
    #expect(check.state == "problem" && check.found == "the subscription commits without a flush")
    #expect(check.next?.contains("--anew") == false)
    #expect(try scene.create().status == 0)
    try scene.waitUntilWell()
    // What the owner has chosen instead stays.
    try scene.region.psql(
      "alter subscription \(scene.subscription) set (synchronous_commit = local)")
    #expect(try scene.create().status == 0)
    #expect(
      try scene.region.value(
        "select subsynccommit from pg_subscription where subname = '\(scene.subscription)'")
        == "local")
  }

  @Test(.enabled(if: TestServer.other != nil, "QUAKE_PG18_BIN is not set"))
  func theReasonForWhichASlotWasLostIsNamed() throws {
    let centre = try OwnServer(
      settings: ["wal_level": "logical", "idle_replication_slot_timeout": "1s"],
      binDirectory: ProcessInfo.processInfo.environment["QUAKE_PG18_BIN"])
    let region = try TestDatabase(on: .region)
    let create = ["region", "create", region.name, "--centre", centre.conninfo] + region.option
    try Tools.succeed("quake-admin", create)
    let subscription = "quake_region_\(region.name)"
    try region.connect().run("alter subscription \(subscription) disable")
    try eventually("nobody has read the slot for too long") {
      try centre.server.ask("checkpoint")
      return try centre.server.ask("select wal_status from pg_replication_slots") == "lost"
    }
    let reason = "nobody has read it for longer than idle_replication_slot_timeout at the centre"
    let check = try Tools.run("quake-admin", ["region", "check"] + region.option)
    #expect(check.output.contains(reason), "\(check.output)")
    #expect(!check.output.contains("max_slot_wal_keep_size"), "\(check.output)")
    let refused = try Tools.run("quake-admin", create)
    #expect(refused.status == 1 && refused.errors.contains(reason), "\(refused.errors)")
    try Tools.succeed("quake-admin", create + ["--anew"])
    try Tools.succeed("quake-admin", ["region", "drop", "--yes"] + region.option)
  }

  @Test(.enabled(if: TestServer.other != nil, "QUAKE_PG18_BIN is not set"))
  func aLimitOnTheTransactionsOfTheWorkersIsNamed() throws {
    let centre = try TestDatabase(on: .centre)
    let region = try TestDatabase(on: try #require(TestServer.other))
    try region.psql("alter database \(region.name) set transaction_timeout = '1min'")
    let create = ["region", "create", region.name, "--centre", centre.conninfo] + region.option
    let begun = try Tools.run("quake-admin", create + ["--timeout", "0s"])
    let advice = "What takes longer than transaction_timeout (1min)"
    #expect(begun.status == 75 && begun.errors.contains(advice), "\(begun.errors)")
    try Tools.succeed("quake-admin", create)
    try eventually("the subscription works") {
      try Tools.run("quake-admin", ["region", "check"] + region.option).output
        .contains("warning: subscription: transaction_timeout is 1min\n  \(advice)")
    }
    try Tools.succeed("quake-admin", ["region", "drop", "--yes"] + region.option)
  }

  @Test func aFailureToConnectLeavesTheRegionAsItWas() throws {
    let scene = try RegionScene.made()
    let role = "no_replication_\(scene.name)"
    try scene.centre.psql(
      """
      create role \(role) login; grant usage on schema quake to \(role);
      grant select, insert, update on all tables in schema quake to \(role);
      """)
    let failed = try scene.run(
      "create", scene.name, "--centre", "\(scene.centre.conninfo) user=\(role)")
    try scene.centre.psql("drop owned by \(role); drop role \(role)")
    #expect(failed.status != 0, "\(failed.output)")
    try scene.write(1)
    try scene.waitForRegion()
    try scene.waitUntilWell()
  }

  @Test func aCopyOfARegionLeavesTheRegionAlone() throws {
    let scene = try RegionScene.made()
    try scene.waitUntilWell()
    // What a restored backup has.
    let copy = try TestDatabase(on: .region)
    let connection = try copy.connect()
    try connection.run(
      "insert into quake.regional_database (name, is_here, schema_version) values ('\(scene.name)', true, 26)"
    )
    try scene.subscribe(connection, with: "connect = false, slot_name = '\(scene.subscription)'")
    for command in [
      ["create", scene.name, "--centre", scene.centre.conninfo, "--anew"], ["drop", "--yes"],
    ] {
      try copy.run("quake-admin", ["region"] + command).expect(
        1, "another database reads the slot \(scene.subscription)")
    }
    try copy.succeed("quake-admin", ["region", "drop", "--centre-lost", "--yes"])
    try scene.write(1)
    try scene.waitForRegion()
    try scene.waitUntilWell()
  }

  @Test func aSubscriptionMadeAnewIsACopyOrAnError() throws {
    let scene = try RegionScene.made()
    // By hand, without a copy.
    let connection = try scene.region.connect()
    try connection.run("drop subscription \(scene.subscription)")
    let none = "region \(scene.name) has no subscription, and gets nothing from its centre"
    #expect(try scene.check("subscription").found == none)
    #expect(try scene.region.run("quake-admin", ["status"]).errors.contains(none))
    #expect(throws: (any Error).self) { try connection.run("delete from quake.quake") }
    try scene.write(2)
    try scene.subscribe(connection, with: "copy_data = false")
    try scene.write(1)
    try scene.waitForRegion()
    let history = try scene.check("history")
    #expect(history.state == "problem" && history.found.contains("history diverged at token 3."))
    try scene.region.run("quake-watch", ["--from-start", "--no-follow"]).expect(
      65, "history diverged")
    try scene.create().expect(
      1, "changes of the centre are missing in region", "history diverged at token 3.")
    try scene.run("create", scene.name, "--centre", scene.centre.conninfo, "--anew")
      .requireSuccess()
    try scene.waitUntilWell()
    #expect(try scene.centre.history() == scene.region.history())

    // The slot is lost, as in a failover without failover slots.
    try connection.run("alter subscription \(scene.subscription) disable")
    try connection.run("alter subscription \(scene.subscription) set (slot_name = none)")
    try eventually("the slot is not read") {
      try scene.centre.value(
        "select active::text from pg_replication_slots where slot_name = '\(scene.subscription)'")
        == "false"
    }
    try scene.centre.connect().run("select pg_drop_replication_slot('\(scene.subscription)')")
    #expect(
      try scene.check("slot").found
        == "the centre has no slot \(scene.subscription): it was dropped, or lost in a failover")
    try scene.create().expect(1, "Add --anew")
    try scene.create("--anew").requireSuccess()
    try scene.waitUntilWell()
  }

  /// As pg_upgrade from a version before 17 and a restore leave it: the worker would skip each change.
  @Test func aSubscriptionWithoutItsTablesDoesNotRun() throws {
    let scene = try RegionScene.made()
    try scene.waitUntilWell()
    let server = try ServerProcess(scene.region)
    try server.waitUntilReady("?max-lag=1h")
    let connection = try scene.region.connect()
    try connection.run("alter subscription \(scene.subscription) disable")
    try connection.run("alter subscription \(scene.subscription) set (slot_name = none)")
    try connection.run("drop subscription \(scene.subscription)")
    try scene.subscribe(connection, with: "connect = false, slot_name = '\(scene.subscription)'")
    try connection.run("alter subscription \(scene.subscription) enable")
    try scene.write(1)
    try eventually("the centre's change was skipped") {
      try scene.region.value(
        "select latest_end_lsn is not null from pg_stat_subscription where subname = '\(scene.subscription)'"
      ) == "t"
    }
    let words =
      "the subscription of region \(scene.name) lacks tables, and skips what its centre commits to them"
    try scene.region.run("quake-admin", ["status"]).expect(1, words)
    let metrics = try scene.region.run("quake-admin", ["status", "--prometheus"])
    #expect(metrics.output.contains("quake_region_running{region=\"\(scene.name)\"} 0"))
    #expect(try scene.check("subscription").found == words)
    #expect(try server.get("/readyz?max-lag=1h").status == 503)
    try server.stop()
    try scene.create("--anew").requireSuccess()
    try scene.waitUntilWell()
  }

  @Test func whatCannotBeARegionIsRefused() throws {
    let scene = try RegionScene.made()
    func expect(_ words: String, _ arguments: [String], at database: TestDatabase) throws {
      let outcome = try database.run("quake-admin", ["region"] + arguments)
      #expect(outcome.status != 0 && outcome.errors.contains(words), "\(outcome.errors)")
    }
    let other = try TestDatabase(on: .region)
    let toCentre = ["--centre", scene.centre.conninfo]
    try expect("cannot be its own region", ["create", "own"] + toCentre, at: scene.centre)
    try expect(
      "is itself a region, \"\(scene.name)\"",
      ["create", "far", "--centre", scene.region.conninfo], at: other)
    try expect("already", ["create", "second"] + toCentre, at: scene.region)
    try expect(
      "is the centre of region \"\(scene.name)\"", ["create", "up", "--centre", other.conninfo],
      at: scene.centre)
    try expect("is no name of a region", ["create", "Bad Name"] + toCentre, at: other)
    try expect("--centre is needed", ["create", "eu"], at: other)
    try expect("which is in use", ["create", scene.name] + toCentre, at: other)
    let plain = try TestDatabase()
    try expect("wal_level", ["create", "eu", "--centre", plain.conninfo], at: other)
    try other.psql("insert into quake.quake (code, time) values ('own', now())")
    try expect("has events or a history of its own", ["create", "eu"] + toCentre, at: other)
    try expect("is no region", ["check"], at: other)
    try expect(
      "is the centre of", "drop --yes".split(separator: " ").map(String.init), at: scene.centre)
    // What a refused command has done at the centre is nothing.
    #expect(try scene.centre.value("select count(*) from quake.regional_database") == "1")
    // Nothing of it makes the centre's own writers pay or fail.
    try scene.centre.psql(
      """
      alter table quake.quake enable trigger all; alter table quake.quake_version enable trigger all;
      alter table quake.change_transaction enable trigger all; alter table quake.history_floor enable trigger all;
      insert into quake.quake (code, time) values ('restored', now());
      """)

    // The centre waits for its regions, which migrate first.
    let script =
      "alter table quake.quake add column later text; update quake.quake set later = code;"
    let refused = try #require(throws: (any Error).self) {
      try scene.centre.migrateToNextRelease([script])
    }
    #expect("\(refused)".contains("cannot migrate "))
    #expect("\(refused)".contains(" before its region \"\(scene.name)\""))
    try scene.region.migrateToNextRelease([script])
    #expect(throws: (any Error).self) { try scene.centre.migrateToNextRelease([script]) }
    let version = try scene.region.value("select max(version) from quake.migration")
    try scene.centre.psql("update quake.regional_database set schema_version = \(version)")
    try scene.centre.migrateToNextRelease([script])
    try scene.write(1)
    try scene.waitForRegion()
  }
}
