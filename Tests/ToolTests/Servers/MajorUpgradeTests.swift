import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// A new major version of PostgreSQL, in both ways of docs/runbook.md: a named watcher goes on.
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
    let copy = try Tools.shell(
      """
      '\(programs)/pg_dump' --format=custom --file=quake.dump --dbname='\(old.conninfo)'
      '\(programs)/pg_restore' --exit-on-error --no-owner --no-privileges --dbname='\(new.conninfo)' quake.dump
      quake-query verify --database '\(new.conninfo)'
      """, folder: folder.path)
    try #require(copy.status == 0, "\(copy.errors)")
    // What it had delivered is not repeated, and what it had not is not lost.
    #expect(try watcher.codes(new.conninfo) == ["us2"])
    try new.psql(Self.insert + "('us3', now(), 5);")
    #expect(try watcher.codes(new.conninfo) == ["us3"])
  }

  @Test(.enabled(if: Tools.isSoak, "make soak has it"))
  func aNamedWatcherGoesOnAfterPgUpgrade() throws {
    let newer = try #require(TestServer.other)
    let programs = URL(fileURLWithPath: newer.psqlPath).deletingLastPathComponent().path
    let folder = try TemporaryFolder()
    let old = try EmbeddedServer(EmbeddedServer.Options(home: folder.path + "/old"))
    try old.start()
    try Tools.succeed("quake-admin", ["migrate", "-d", old.conninfo])
    let watcher = Watcher()
    let first = try Tools.shell(
      "'\(Tools.psql)' -d '\(old.conninfo)' -c \"\(Self.insert)('us1', now(), 5)\"")
    try #require(first.status == 0, "\(first.errors)")
    #expect(try watcher.codes(old.conninfo) == ["us1"])
    let second = try Tools.shell(
      "'\(Tools.psql)' -d '\(old.conninfo)' -c \"\(Self.insert)('us2', now(), 5)\"")
    try #require(second.status == 0, "\(second.errors)")
    try old.stop()

    var options = EmbeddedServer.Options(home: folder.path + "/new")
    options.binDirectory = programs
    let new = try EmbeddedServer(options)
    try new.start()
    try new.stop()
    let oldPrograms = URL(fileURLWithPath: Tools.psql).deletingLastPathComponent().path
    let account = geteuid() == 0 ? "runuser -u postgres -- " : ""
    let (from, to) = (try old.status().dataDirectory, try new.status().dataDirectory)
    let upgrade = try Tools.shell(
      """
      mkdir work && chmod 777 work && cd work
      # A database of its own name is in the way, and the settings of the old server are written anew.
      \(account)'\(programs)/initdb' --pgdata='\(folder.path)/fresh' --username=quake --encoding=UTF8 --locale=C.UTF-8 \
        --auth=trust || exit
      \(account)'\(programs)/pg_upgrade' --username=quake --old-bindir='\(oldPrograms)' --new-bindir='\(programs)' \
        --old-datadir='\(from)' --new-datadir='\(folder.path)/fresh' --socketdir=/tmp
      cp '\(to)'/postgresql*.conf '\(to)/pg_hba.conf' '\(folder.path)/fresh'
      rm -r '\(to)' && mv '\(folder.path)/fresh' '\(to)'
      """, folder: folder.path)
    try #require(upgrade.status == 0, "\(upgrade.output)\(upgrade.errors)")
    try new.start()
    defer { _ = try? new.stop(mode: .immediate) }
    #expect(try watcher.codes(new.conninfo) == ["us2"])
  }
}
