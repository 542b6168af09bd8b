import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// A new major version of PostgreSQL by dump and restore, and by pg_upgrade, as in docs/runbook.md: a named watcher goes
/// on.
@Suite(
  .serialized, .enabled(if: TestServer.other != nil, "QUAKE_PG18_BIN is not set"))
struct MajorUpgradeTests {
  /// A watcher with a witness; each call delivers what is new and ends.
  private struct Watcher {
    let folder = try? TemporaryFolder()

    func codes(_ conninfo: String) throws -> [String] {
      let folder = try #require(folder)
      let outcome = try Tools.succeed(
        "quake-watch",
        [
          "--name", "alerts", "--state", folder.path + "/witness", "--from-start", "--no-follow",
          "--json", "-d", conninfo,
        ])
      return try outcome.lines.compactMap {
        let line = try JSONLine($0)
        return line["new"]?.string("code") ?? line.string("code")
      }
    }
  }

  private static let insert = "insert into quake.quake (code, time, magnitude) values "

  @Test func aNamedWatcherGoesOnAfterDumpAndRestore() throws {
    let old = try TestDatabase()
    let newer = try #require(TestServer.other)
    let new = try TestDatabase.empty(on: newer)
    let watcher = Watcher()
    try old.psql(Self.insert + "('us1', now(), 5);")
    #expect(try watcher.codes(old.conninfo) == ["us1"])
    try old.psql(Self.insert + "('us2', now(), 5);")

    // The programs of the new version read the old one.
    let programs = URL(fileURLWithPath: newer.psqlPath).deletingLastPathComponent().path
    let folder = try TemporaryFolder()
    try Tools.shell(
      """
      '\(programs)/pg_dump' --format=custom --file=quake.dump --dbname='\(old.conninfo)'
      '\(programs)/pg_restore' --exit-on-error --no-owner --no-privileges --dbname='\(new.conninfo)' quake.dump
      quake-query verify --database '\(new.conninfo)'
      """, folder: folder.path
    ).requireSuccess()
    // What it had delivered is not repeated, and what it had not is not lost.
    #expect(try watcher.codes(new.conninfo) == ["us2"])
    try new.psql(Self.insert + "('us3', now(), 5);")
    #expect(try watcher.codes(new.conninfo) == ["us3"])
  }

  @Test func aNamedWatcherGoesOnAfterPgUpgrade() throws {
    let folder = try TemporaryFolder()
    var options = EmbeddedServer.Options(home: folder.path + "/home")
    options.binDirectory = ProcessInfo.processInfo.environment["QUAKE_PG_BIN"]
    options.settings = ["fsync": "off"]
    let old = try EmbeddedServer(options)
    try old.start()
    defer { _ = try? old.stop(mode: .immediate) }
    let watcher = Watcher()
    try Tools.succeed("quake-admin", ["migrate", "-d", old.conninfo])
    try old.ask(Self.insert + "('us1', now(), 5)")
    #expect(try watcher.codes(old.conninfo) == ["us1"])
    try old.ask(Self.insert + "('us2', now(), 5)")
    let oldPrograms = try old.binDirectory
    try old.stop()

    // The new cluster takes the place of the old one, with its settings. Servers do not run as root.
    let data = try old.status().dataDirectory
    let newer = try #require(TestServer.other)
    let programs = URL(fileURLWithPath: newer.psqlPath).deletingLastPathComponent().path
    try Tools.shell(
      """
      owner=$(stat -c %U '\(data)')
      as() { if [ "$(id -u)" = 0 ]; then runuser -u "$owner" -- "$@"; else "$@"; fi; }
      cd "$(dirname '\(data)')"
      mv data data.old
      as '\(programs)/initdb' -D "$PWD/data" -U quake --auth=trust --data-checksums --encoding=UTF8 --locale=C.UTF-8 \
        --lc-collate=C --no-sync
      as '\(programs)/pg_upgrade' -b '\(oldPrograms)' -B '\(programs)' -d "$PWD/data.old" -D "$PWD/data" -U quake \
        --socketdir="$PWD/socket" --no-sync
      cp -p data.old/pg_hba.conf data.old/postgresql.conf data/
      """, folder: folder.path
    ).requireSuccess()
    options.binDirectory = programs
    let new = try EmbeddedServer(options)
    try new.start()
    defer { _ = try? new.stop(mode: .immediate) }
    #expect(try new.ask("show server_version_num").hasPrefix("18"))
    try Tools.succeed("quake-query", ["verify", "-d", new.conninfo])
    #expect(try watcher.codes(new.conninfo) == ["us2"])
    try new.ask(Self.insert + "('us3', now(), 5)")
    #expect(try watcher.codes(new.conninfo) == ["us3"])
    let check = try Tools.run("quake-admin", ["roles", "check", "-d", new.conninfo])
    #expect(!check.output.contains("schema was changed"), "\(check.output)")
  }
}
