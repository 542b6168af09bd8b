import EmbeddedPostgres
import Postgres
import StoreTestSupport
import TestSupport
import Testing

/// The proxy does what it is told.
@Suite struct FaultyProxyTests {
  private let proxy: FaultyProxy
  private let conninfo: String

  init() throws {
    let socket = try TestServer.shared.server.status().socketDirectory + "/.s.PGSQL.5432"
    proxy = try FaultyProxy(to: socket)
    conninfo = proxy.conninfo(database: "quake", user: "quake")
  }

  private func connect() throws -> Connection {
    try Connection(ConnectionSettings(conninfo, applicationName: "tests"))
  }

  private func time(_ body: () throws -> Void) rethrows -> Duration {
    let begun = ContinuousClock.now
    try body()
    return ContinuousClock.now - begun
  }

  @Test func itForwards() throws {
    let connection = try connect()
    #expect(
      try connection.ask("select sum(length(repeat('x', n))) from generate_series(1, 5000) n")
        == "12502500")
    #expect(
      try connection.ask("select length($1)", [.text(String(repeating: "x", count: 3_000_000))])
        == "3000000")
    #expect(proxy.acceptedCount == 1)
  }

  @Test func itDelays() throws {
    let connection = try connect()
    proxy.set(.delay)
    for _ in 1...5 {
      // 25 to 125 ms each way.
      #expect(try time { try connection.run("select 1") } >= .milliseconds(50))
    }
  }

  @Test func itStallsAndGoesOn() throws {
    let connection = try connect()
    proxy.set(.stall)
    connection.answerTimeout = .milliseconds(300)
    let thread = BackgroundThread { [proxy] in
      Event().wait(within: .milliseconds(100))
      proxy.set(.pass)
    }
    #expect(try connection.ask("select 1") == "1")
    try thread.join()
    proxy.set(.stall)
    #expect(throws: PostgresError.self) { try connection.run("select 1") }
  }

  @Test func itCuts() throws {
    let connection = try connect()
    proxy.cut()
    #expect(throws: PostgresError.self) { try connection.run("select 1") }
    #expect(try connect().ask("select 1") == "1", "a new one is whole")
  }

  @Test(arguments: [ProxiedConnection.Direction.toClient, .toServer])
  func itLosesADirection(_ direction: ProxiedConnection.Direction) throws {
    let database = try TestDatabase()
    let connection = try Connection(
      ConnectionSettings(
        proxy.conninfo(database: database.name, user: "quake"), applicationName: "lost"))
    proxy.halfOpen(losing: direction)
    connection.answerTimeout = .milliseconds(300)
    #expect(throws: PostgresError.self) {
      try connection.run("insert into quake.quake (code, time) values ('a', now())")
    }
    // A question that came through was done, whether or not its answer came.
    let isDone = try database.connect().eventually(
      "exists (select from quake.quake)",
      within: .milliseconds(direction == .toClient ? 10_000 : 300))
    #expect(isDone == (direction == .toClient))
  }

  @Test func itHoldsAMessageUntilItMayPass() throws {
    let hold = proxy.hold("select 42")
    let isAnswered = Event()
    let thread = BackgroundThread { [conninfo] in
      let connection = try Connection(ConnectionSettings(conninfo, applicationName: "tests"))
      try connection.run("select 41", "select 42")
      isAnswered.happen()
    }
    try hold.isHeld.require("the message comes")
    #expect(!isAnswered.wait(within: .milliseconds(100)))
    hold.mayPass.happen()
    try isAnswered.require("the answer")
    try thread.join()
  }
}
