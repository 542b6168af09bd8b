import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// A new major version of PostgreSQL by dump and restore, as in docs/runbook.md: a named watcher goes on.
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
}
