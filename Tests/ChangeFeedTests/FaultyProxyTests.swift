import EmbeddedPostgres
import Postgres
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

  private func connect() throws -> Connection { try TestServer.connect(conninfo) }

  private func time(_ body: () throws -> Void) rethrows -> Duration {
    let begun = ContinuousClock.now
    try body()
    return ContinuousClock.now - begun
  }

  @Test func theProxyDelays() throws {
    let connection = try connect()
    proxy.set(.delay)
    for _ in 1...5 {
      // 25 to 125 ms each way.
      #expect(try time { try connection.run("select 1") } >= .milliseconds(50))
    }
  }

  @Test(arguments: [FaultyProxy.Direction.toClient, .toServer])
  func itLosesADirection(_ direction: FaultyProxy.Direction) throws {
    let database = try TestDatabase()
    let conninfo = proxy.conninfo(database: database.name, user: "quake")
    let (isConnected, isLosing, isAnswered, hasFailed) = (Event(), Event(), Event(), Event())
    let thread = BackgroundThread {
      let connection = try TestServer.connect(conninfo, applicationName: "lost")
      isConnected.happen()
      try isLosing.require("the proxy loses a direction")
      // A lost question has no answer, however short the wait.
      if direction == .toServer { connection.answerTimeout = .milliseconds(300) }
      do {
        try connection.run("insert into quake.quake (code, time) values ('a', now())")
        isAnswered.happen()
      } catch is PostgresError {
        hasFailed.happen()
      }
    }
    try isConnected.require("a connection")
    proxy.halfOpen(losing: direction)
    isLosing.happen()
    let observer = try database.connect()
    // A question that came through was done, whether or not its answer came.
    if direction == .toClient {
      #expect(try observer.eventually("exists (select from quake.quake)"))
      proxy.cut()
    }
    try thread.join()
    #expect(hasFailed.wait(within: .zero) && !isAnswered.wait(within: .zero))
    // When its session has ended, everything that came to the server has been done.
    #expect(
      try observer.eventually(
        """
        not exists (select from pg_stat_activity
                     where datname = current_database() and application_name = 'lost')
        """))
    let count = try observer.ask("select count(*) from quake.quake")
    #expect(count == (direction == .toClient ? "1" : "0"))
  }
}
