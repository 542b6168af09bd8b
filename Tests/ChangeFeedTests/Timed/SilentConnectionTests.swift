import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// A network that takes everything and forwards nothing: no error tells of it.
@Suite struct SilentConnectionTests {
  private let database: TestDatabase
  private let proxy: FaultyProxy
  /// The promise; beside other tests everything takes several times as long.
  private static let limit = Duration.seconds(Tools.isSoak ? 15 : 90)

  init() throws {
    database = try TestDatabase()
    proxy = try FaultyProxy(
      to: TestServer.shared.server.status().socketDirectory + "/.s.PGSQL.5432")
  }

  private func watch() throws -> ToolProcess {
    try Tools.start(
      "quake-watch",
      [
        "--database", proxy.conninfo(database: database.name, user: "quake"), "--json",
        "--from-start",
      ])
  }

  /// How long it takes until the watcher says that its server is silent.
  private func silence(of watch: ToolProcess) throws -> Duration {
    proxy.set(.stall)
    let begun = ContinuousClock.now
    try watch.waitForError("no answer from the database")
    return ContinuousClock.now - begun
  }

  @Test func aSilentConnectionIsFoundWithin15Seconds() throws {
    defer { proxy.stop() }
    try database.psql("insert into quake.quake (code, time) values ('before', now());")
    let watch = try watch()
    #expect(try JSONLine(watch.line()).string("code") == "before")
    #expect(try silence(of: watch) <= Self.limit)
    // What was committed meanwhile comes when the network is back.
    try database.psql("insert into quake.quake (code, time) values ('meanwhile', now());")
    proxy.set(.pass)
    #expect(try JSONLine(watch.line()).string("code") == "meanwhile")
  }

  @Test func aConnectionThatFallsSilentWhileItIsReadIsFoundToo() throws {
    defer { proxy.stop() }
    try database.psql(
      """
      insert into quake.quake (code, time, place)
      select 'e' || n, now(), repeat('x', 500) from generate_series(1, 20000) n;
      """)
    let watch = try watch()
    _ = try watch.lines(1000)
    let silence = try silence(of: watch)
    #expect(silence <= Self.limit, "\(silence)")
    proxy.set(.pass)
    let rest = try watch.lines(19_000).map { try JSONLine($0).integer("position") }
    #expect(rest == Array(1000..<20_000))
  }
}
