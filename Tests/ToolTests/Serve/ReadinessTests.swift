import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// `/readyz` says 503 whenever a document would be answered with 503, and soon.
@Suite struct ReadinessTests {
  private func expectUnready(_ server: ServerProcess) throws {
    let begun = ContinuousClock.now
    let answer = try server.get("/readyz").expect(503)
    #expect(answer.headers["retry-after"] != nil, "\(answer.text)")
    // Strangers read it.
    #expect(!answer.text.contains("socket"), "\(answer.text)")
    if Tools.isSoak { #expect(begun.duration(to: .now) < .seconds(2)) }
  }

  @Test func aServerThatStandsStillMakesItUnready() throws {
    let own = try OwnServer()
    let server = try ServerProcess(["--database", own.conninfo])
    try server.waitUntilReady()
    try own.server.signal(SIGSTOP)
    for _ in 0..<3 { try expectUnready(server) }
    // Requests for documents wait meanwhile, and do not hold it up.
    let waiting = try (0..<6).map { _ in try RawConnection(port: server.port) }
    for connection in waiting {
      connection.send("GET /v1/quakes?limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }
    try expectUnready(server)
    try own.server.signal(SIGCONT)
    try server.waitUntilReady()
    for connection in waiting { #expect([200, 503].contains(try connection.answer().status)) }
    try server.stop()
  }

  @Test func aFullTableOfLocksMakesItUnready() throws {
    let own = try OwnServer(settings: ["max_locks_per_transaction": "10", "max_connections": "20"])
    let server = try ServerProcess(["--database", own.conninfo])
    try server.waitUntilReady()
    let filler = try Connection(
      ConnectionSettings(own.conninfo, applicationName: "filler"))
    // The locks of the session stay when the statement has failed.
    #expect(throws: PostgresError.self) {
      try filler.execute("select pg_advisory_lock(i) from generate_series(1, 1000000) i")
    }
    #expect(try server.get("/v1/quakes?limit=1").status == 503)
    try expectUnready(server)
    try filler.execute("select pg_advisory_unlock_all()")
    try server.waitUntilReady()
    try server.stop()
  }

  @Test func aStandbyIsReadyIfItIsNotTooLate() throws {
    let servers = try ReplicatedServers()
    let primary = try ServerProcess(["--database", servers.primary.conninfo])
    let standby = try ServerProcess(["--database", servers.standby.conninfo])
    try servers.primary.insert("a")
    for server in [primary, standby] { try server.waitUntilReady("?max-lag=1h") }
    #expect(try primary.get("/readyz?max-lag=1ms").text == "ready\n")
    try standby.process.waitForError("The streams poll the database instead of listening")
    #expect(try standby.get("/readyz").text.contains("The streams poll the database: it is a hot"))

    try servers.ask(servers.standby, "select pg_wal_replay_pause()")
    try servers.primary.insert("b")
    try eventually("the standby is late") {
      try standby.get("/readyz?max-lag=1ms").status == 503
    }
    #expect(try standby.get("/readyz?max-lag=1h").status == 200)
    #expect(try standby.get("/readyz").status == 200)
    try servers.ask(servers.standby, "select pg_wal_replay_resume()")
    // All that the primary has sent is there: however old it is, nothing is missing.
    try eventually("the standby has caught up") {
      try standby.get("/readyz?max-lag=1ms").status == 200
    }
    #expect(try standby.get("/readyz?max-lag=soon").status == 400)
    for server in [primary, standby] { try server.stop() }
  }
}
