import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// A base backup and an archive of WAL bring the database back as it was at a time, as in docs/runbook.md.
@Suite struct PointInTimeTests {
  private static let insert = "insert into quake.quake (code, time, magnitude) values "

  @Test func aWatcherNamesWhatItHasDeliveredAfterThatTime() throws {
    let folder = try TemporaryFolder()
    var options = EmbeddedServer.Options(home: folder.path + "/first")
    options.binDirectory = ProcessInfo.processInfo.environment["QUAKE_PG_BIN"]
    options.settings = ["fsync": "off"]
    let first = try EmbeddedServer(options)
    try first.start()
    try Tools.succeed("quake-admin", ["migrate", "-d", first.conninfo])
    try first.stop()
    let data = try first.status().dataDirectory
    let archive = data + "/../archive"
    try Tools.shell(
      """
      echo 'local replication all trust' >> '\(data)/pg_hba.conf'
      mkdir '\(archive)'; chown --reference='\(data)' '\(archive)'
      """
    ).requireSuccess()
    options.settings["archive_mode"] = "on"
    options.settings["archive_command"] = "cp '%p' '\(archive)/%f'"
    let server = try EmbeddedServer(options)
    try server.start()
    defer { _ = try? server.stop(mode: .immediate) }

    try Tools.shell(
      """
      owner=$(stat -c %U '\(data)')
      as() { if [ "$(id -u)" = 0 ]; then runuser -u "$owner" -- "$@"; else "$@"; fi; }
      cp -a '\(folder.path)/first' '\(folder.path)/second'
      rm -rf '\(folder.path)/second/data' '\(folder.path)/second/socket'
      as '\(try server.binDirectory)/pg_basebackup' --pgdata='\(folder.path)/second/data' --checkpoint=fast \
        -d '\(server.conninfo)'
      """, folder: folder.path
    ).requireSuccess()
    func watch(_ server: EmbeddedServer, _ options: [String] = []) throws -> ToolProcess.Outcome {
      try Tools.run(
        "quake-watch",
        [
          "--name", "alerts", "--state", folder.path + "/witness", "--from-start", "--no-follow",
          "--json", "-d", server.conninfo,
        ] + options)
    }
    try server.ask(Self.insert + "('before', now(), 5)")
    #expect(try watch(server).lines.count == 1)
    let time = try server.ask("select clock_timestamp()")
    try server.ask(Self.insert + "('after', now(), 5)")
    #expect(try watch(server).lines.count == 1)
    try server.ask("select pg_switch_wal()")
    try server.stop()

    var target = EmbeddedServer.Options(home: folder.path + "/second")
    target.binDirectory = options.binDirectory
    target.settings = [
      "fsync": "off", "restore_command": "cp '\(archive)/%f' '%p'", "recovery_target_time": time,
      "recovery_target_action": "promote",
    ]
    _ = try Tools.shell(
      "cp -a '\(folder.path)/second/data/PG_VERSION' '\(folder.path)/second/data/recovery.signal'")
    let restored = try EmbeddedServer(target)
    try restored.start()
    defer { _ = try? restored.stop(mode: .immediate) }
    try eventually("the recovery has ended") {
      try restored.ask("select pg_is_in_recovery()") == "f"
    }
    #expect(try restored.ask("select code from quake.quake") == "before")
    try Tools.succeed("quake-query", ["verify", "-d", restored.conninfo])
    try watch(restored).expectFailure(65)
    try watch(restored, ["--on-expired", "snapshot"]).expect(0, "which this watcher has delivered")
    try restored.ask(Self.insert + "('later', now(), 5)")
    #expect(try watch(restored).lines.count == 1)
  }
}
