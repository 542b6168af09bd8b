import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-serve` as a service: the service manager, the configuration file, and the end.
@Suite struct ServeServiceTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
  }

  @Test func itReportsThatItListensAndThatItIsAlive() throws {
    let socket = try NotifySocket(folder.path + "/notify")
    let server = try ServerProcess(
      database, environment: ["NOTIFY_SOCKET": socket.name, "WATCHDOG_USEC": "400000"])
    #expect(
      try socket.message(with: "READY=1")
        == "READY=1\nSTATUS=serving on http://127.0.0.1:\(server.port)")
    for _ in 0..<4 { _ = try socket.message(with: "WATCHDOG=1") }
    server.process.signal(SIGTERM)
    _ = try socket.message(with: "STOPPING=1")
    #expect(try server.process.exit().status == 0)
  }

  @Test func theExampleWorksAndNamesEveryOption() throws {
    let text = try String(
      contentsOfFile: Tools.package + "/deploy/quake-serve.conf", encoding: .utf8)
    // Options that are commented out are part of the example.
    let active = text.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.wholeMatch(of: #/#([a-z-]+ = .*)/#).map { String($0.1) } ?? String($0)
    }
    let file = try folder.write("serve.conf", active.joined(separator: "\n"))
    let server = try ServerProcess(
      database, ["--config", file, "--metrics-listen", "127.0.0.1:0"])
    #expect(try server.get("/healthz").status == 200)
    try server.stop()
    let help = try Tools.run("quake-serve", ["--help"]).output
    let keys = Set(active.compactMap { $0.prefixMatch(of: #/([a-z-]+) = /#).map { String($0.1) } })
    let options = help.matches(of: #/--([a-z-]+)/#).map { String($0.1) }
    let others: Set = [
      "config", "color", "help", "version", "man", "completions", "private", "port",
    ]
    for option in Set(options).subtracting(others) {
      let positive = option.hasPrefix("no-") ? String(option.dropFirst(3)) : option
      #expect(keys.contains(positive), "\(option) is not in the example")
    }
  }

  @Test func atItsEndItFinishesTheRequestsInProgress() throws {
    let server = try ServerProcess(database, ["--drain", "10m", "--query-timeout", "10m"])
    // The streams must have begun: they read the newest token, too.
    try eventually("the server is ready") { try server.get("/readyz").status == 200 }
    let blocker = try database.connect()
    // The query of a request waits for this lock.
    try blocker.begin()
    try blocker.execute("lock table quake.change_transaction")
    let connection = try RawConnection(port: server.port)
    connection.send("GET /v1/quakes?limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try eventually("the query waits") {
      try database.column(
        """
        select count(*) from pg_stat_activity
         where wait_event_type = 'Lock' and datname = current_database()
           and query = 'select quake.latest_token()'
        """) == ["1"]
    }
    server.process.signal(SIGTERM)
    try eventually("the server takes no further connections") {
      (try? RawConnection(port: server.port)) == nil
    }
    try blocker.rollback()
    #expect(try connection.answer().status == 200)
    #expect(try server.process.exit().status == 0)
  }

  @Test func itStartsOnlyWithADatabaseThatFits() throws {
    let empty = try TestDatabase.empty()
    #expect(try Tools.run("quake-serve", empty.option + ["--listen", "127.0.0.1:0"]).status == 78)
    let nowhere = try Tools.run(
      "quake-serve", ["--database", "postgresql://127.0.0.1:1/none", "--listen", "127.0.0.1:0"])
    #expect(nowhere.status == 69)
  }
}
