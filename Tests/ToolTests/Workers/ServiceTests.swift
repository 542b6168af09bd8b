import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-ingest run` under systemd: what it tells the service manager.
@Suite struct ServiceTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder
  private let socket: NotifySocket

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
    socket = try NotifySocket(folder.path + "/notify")
  }

  private func start(_ arguments: [String], watchdog: String? = nil) throws -> ToolProcess {
    var environment = ["NOTIFY_SOCKET": socket.name]
    environment["WATCHDOG_USEC"] = watchdog
    return try database.start("quake-ingest", ["run"] + arguments, environment: environment)
  }

  @Test func itIsReadyWhenItPollsAndAliveUntilItStops() throws {
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 3).utf8))
    // The next poll is due long after the next watchdog message.
    let run = try start(["--feed", server.url, "--every", "1h"], watchdog: "400000")
    let ready = try socket.message(with: "READY=1")
    #expect(ready == "READY=1\nSTATUS=connected; feeds: all_day")
    _ = try socket.message(with: "WATCHDOG=1")
    // It waits for the next poll now.
    let status = try waitForStatus { $0.contains("3 inserted") }
    #expect(status.hasPrefix("STATUS=all_day: 3 seen"))
    for _ in 0..<4 { _ = try socket.message(with: "WATCHDOG=1") }
    run.signal(SIGTERM)
    _ = try socket.message(with: "STOPPING=1")
    #expect(try run.exit().status == 0)
  }

  @Test func theWatchdogIsFedDuringALongImport() throws {
    let body = Array(Feeds.collection(count: 2000).utf8)
    let rest = Flag()
    let server = try ScriptedServer { _, client in
      client.answer(200, [], Array(body[..<500_000]), announced: body.count)
      try? rest.wait()
      client.send(Array(body[500_000...]))
    }
    let run = try start(["--feed", server.url, "--every", "1h"], watchdog: "400000")
    _ = try socket.message(with: "READY=1")
    // The server has sent half of the body and delays the other half.
    for _ in 0..<5 { _ = try socket.message(with: "WATCHDOG=1") }
    #expect(try database.count("quake.import") == 0)
    rest.raise()
    _ = try waitForStatus { $0.contains("2,000 inserted") }
    try run.end()
  }

  /// The worker waits for the database to come back.
  @Test func theWatchdogIsFedWithoutADatabase() throws {
    let server = try ScriptedServer(body: Array(Feeds.collection(count: 3).utf8))
    let run = try start(["--feed", server.url, "--every", "100ms"], watchdog: "400000")
    _ = try waitForStatus { $0.contains("3 seen") }
    try database.allowConnections(false)
    #expect(try waitForStatus { $0.contains("lost") }.hasPrefix("STATUS=lost the database: "))
    for _ in 0..<5 { _ = try socket.message(with: "WATCHDOG=1") }
    try database.allowConnections(true)
    _ = try waitForStatus { $0.contains("3 seen") }
    try run.end()
  }

  @Test func withoutADatabaseItNeverReportsReady() throws {
    try Tools.run(
      "quake-ingest", ["run", "--feed", "all_hour", "-d", "host=/nonexistent"],
      environment: ["NOTIFY_SOCKET": socket.name]
    ).expect(69)
    #expect(socket.message(within: .zero) == nil)
  }

  private func waitForStatus(_ isMeant: (String) -> Bool) throws -> String {
    let deadline = ContinuousClock.now + ToolProcess.patience
    while let message = socket.message(within: max(.zero, deadline - .now)) {
      if message.hasPrefix("STATUS="), isMeant(message) { return message }
    }
    throw ToolProcess.Failure(description: "timed out waiting for a status")
  }
}
