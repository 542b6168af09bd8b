import EmbeddedPostgres
import TestSupport
import Testing

/// A region and a centre whose histories have parted, or only seem to.
@Suite struct RegionPartingTests {
  /// As a hot standby of the region's server has it that was promoted before it had received all.
  @Test func aRegionThatLacksWhatItHasConfirmedSaysSo() throws {
    let scene = try RegionScene.made()
    try scene.waitUntilWell()
    try scene.disable()
    try scene.write(1)
    let lost = try scene.centre.value("select quake.latest_token()")
    try scene.goOn(after: "pg_current_wal_lsn()")
    let words =
      "the region lacks transaction \(lost), and has confirmed to its centre that it has it"
    try eventually("the region has confirmed it") { try scene.check("history").found == words }
    let check = try scene.check("history")
    #expect(check.state == "problem" && check.next?.contains("--anew") == true)
    let refused = try scene.create()
    #expect(refused.status == 1, "\(refused.output)")
    #expect(refused.errors.contains("does not have the history of its centre"))
    #expect(refused.errors.contains("he region lacks transaction \(lost)"), "\(refused.errors)")
    try scene.create("--anew").requireSuccess()
    try scene.waitUntilWell()
    #expect(try scene.centre.history() == scene.region.history())
  }

  /// As it is after a failover that has lost what the region had: PostgreSQL skips what the new primary commits until its
  /// WAL is as long as that of the old one.
  @Test func aRegionThatIsAheadOfItsCentreSaysSo() throws {
    let scene = try RegionScene.made()
    try scene.waitUntilWell()
    try scene.disable()
    try scene.goOn(after: "pg_current_wal_lsn() + 1000000000")
    let words =
      "the region has read more of \(scene.subscription) than the centre has, and skips what is committed now"
    try eventually("the region has told its position") { try scene.check("slot").found == words }
    #expect(try scene.check("slot").next?.contains("--anew") == true)
    let doctor = try Tools.run("quake-admin", ["doctor"] + scene.centre.option)
    #expect(doctor.output.contains("problem: slots: "), "\(doctor.output)")
    #expect(doctor.output.contains("\(scene.subscription)"), "\(doctor.output)")
    #expect(
      doctor.output.contains("has read more than this server has, and skips what is committed now"))
    let status = try Tools.run("quake-admin", ["status"] + scene.centre.option)
    #expect(status.status == 1 && status.errors.contains("skips what is committed now"))
    try scene.write(1)
    let ahead = try scene.create()
    #expect(ahead.status == 1, "\(ahead.output)")
    #expect(ahead.errors.contains("has read more of its centre than the centre has"))
    #expect(ahead.errors.contains("Add --anew"))

    // What the region has is gone.
    try scene.create("--anew").requireSuccess()
    try scene.waitForRegion()
    let lost = try scene.region.value("select quake.latest_token()")
    try scene.centre.psql(
      """
      set session_replication_role = replica;
      delete from quake.change_transaction where token = split_part('\(lost)', '.', 1)::bigint;
      """)
    let check = try scene.check("history")
    #expect(check.state == "problem", "\(check)")
    #expect(
      check.found
        == "the centre lacks transaction \(lost) of the region: it was restored, or a failover has lost it"
    )
    let refused = try scene.create()
    #expect(refused.status == 1, "\(refused.output)")
    #expect(refused.errors.contains("he centre lacks transaction \(lost)"), "\(refused.errors)")
  }

  @Test func aStandbyOfARegionThatIsLateLacksNothing() throws {
    let centre = try TestDatabase(on: .centre)
    let servers = try ReplicatedServers()
    try Tools.succeed(
      "quake-admin",
      [
        "region", "create", centre.name, "--centre", centre.conninfo, "-d",
        servers.primary.conninfo,
      ])
    defer {
      _ = try? Tools.run(
        "quake-admin", ["region", "drop", "--yes", "-d", servers.primary.conninfo])
    }
    try eventually("the standby has the whole copy") {
      try servers.standby.ask("select bool_and(srsubstate = 'r') from pg_subscription_rel") == "t"
    }
    try servers.standby.ask("select pg_wal_replay_pause()")
    try eventually("it replays no more") {
      try servers.standby.ask("select pg_get_wal_replay_pause_state()") == "paused"
    }
    try centre.psql("insert into quake.quake (code, time) values ('us1', now())")
    try eventually("the region has confirmed it") {
      let confirmed = try centre.value(
        """
        select confirmed_flush_lsn >= pg_current_wal_lsn() from pg_replication_slots
         where slot_name = 'quake_region_\(centre.name)'
        """)
      return try confirmed == "t" && servers.primary.ask("select count(*) from quake.quake") == "1"
    }
    let check = try Tools.run("quake-admin", ["region", "check", "-d", servers.standby.conninfo])
    #expect(check.output.contains("ok: history: no transaction yet"), "\(check.output)")
    #expect(
      check.output.contains(
        """
        not seen: subscription: the state of the subscription, which the primary has
          Run this command on the primary.
        """), "\(check.output)")
    try servers.standby.ask("select pg_wal_replay_resume()")
  }
}

extension RegionScene {
  /// Disables the subscription, and waits until its worker has ended.
  fileprivate func disable() throws {
    try region.connect().run("alter subscription \(subscription) disable")
    try eventually("its worker has ended") {
      try region.value(
        """
        select count(*) from pg_stat_subscription where subname = '\(subscription)' and pid is not null
        """) == "0"
    }
  }

  /// Enables the subscription, which counts all that is before a position of the centre as read.
  fileprivate func goOn(after position: String) throws {
    let end = try centre.value("select \(position)")
    try region.connect().run(
      """
      select pg_replication_origin_advance('pg_' || oid, '\(end)') from pg_subscription
       where subname = '\(subscription)'
         and subdbid = (select oid from pg_database where datname = current_database())
      """,
      "alter subscription \(subscription) enable")
  }
}
