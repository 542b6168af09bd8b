import Basics
import EmbeddedPostgres
import TestSupport
import Testing

@testable import Postgres

@Suite struct WaitingTests {
  private let database: TestDatabase
  private let connection: Connection
  private let other: Connection

  init() throws {
    database = try TestDatabase.empty()
    connection = try database.connect()
    other = try database.connect()
  }

  /// Waits for a notification and takes those that have arrived.
  private func notifications() throws -> [ServerNotification] {
    let deadline = Deadline(after: .seconds(120))
    while true {
      let taken = try connection.takeNotifications()
      guard taken.isEmpty else { return taken }
      guard connection.wait(until: deadline) == .ready else { return [] }
    }
  }

  @Test func aWaitEndsWithANotificationOfAnotherSession() throws {
    try connection.run("listen \"Changes\"")
    #expect(try connection.takeNotifications().isEmpty)
    try other.run(
      "select pg_notify('Changes', 'é 1'), pg_notify('Changes', '2'), pg_notify('x', '3')")
    let received = try notifications()
    #expect(received.map(\.payload) == ["é 1", "2"])
    #expect(received.map(\.channel) == ["Changes", "Changes"])
    #expect(received.allSatisfy { $0.processID == other.serverProcessID })
    #expect(try connection.takeNotifications().isEmpty)
  }

  @Test func aWaitFindsNotificationsThatCameWithAnAnswer() throws {
    try connection.run("listen changes")
    try other.run("notify changes")
    // The notification is on its way before this answer.
    try connection.run("select 1")
    #expect(try notifications().count == 1)
  }

  @Test func aWaitEndsAtItsDeadline() throws {
    try connection.run("listen changes")
    let begun = ContinuousClock.now
    #expect(connection.wait(until: Deadline(after: .milliseconds(30))) == .timedOut)
    #expect(begun.duration(to: .now) >= .milliseconds(29))
    #expect(connection.wait(until: Deadline(after: .seconds(-1))) == .timedOut)
  }

  @Test func aWaitEndsWhenTheWakeDescriptorIsReadable() throws {
    let wake = try Wake()
    #expect(
      connection.wait(until: Deadline(after: .milliseconds(1)), wake: wake.descriptor) == .timedOut)
    wake.trigger()
    #expect(
      connection.wait(until: Deadline(after: .seconds(120)), wake: wake.descriptor) == .woken)
  }

  @Test func aWaitEndsWhenTheServerEndsTheConnection() throws {
    try connection.run("listen changes")
    let pid = Int64(connection.serverProcessID)
    #expect(try other.ask("select pg_terminate_backend($1, 180000)", [.integer(pid)]) == "t")
    let deadline = Deadline(after: .seconds(120))
    let error = try #require(throws: PostgresError.self) {
      // The server's last message arrives first, then the end.
      while connection.wait(until: deadline) == .ready { _ = try connection.takeNotifications() }
    }
    #expect(error.kind == .connection)
  }

  @Test func aStatementCanBeCancelledFromAnotherThread() throws {
    // What the statement waits for, for ever.
    try other.run("select pg_advisory_lock(1)")
    let waiting = try database.connect(applicationName: "waiting")
    let handle = try #require(waiting.cancelHandle)
    let database = database
    let canceller = BackgroundThread {
      #expect(try database.connect().waitUntilBlocked(applicationName: "waiting"))
      try handle.cancel()
    }
    let error = try #require(throws: PostgresError.self) {
      try waiting.run("select pg_advisory_lock(1)")
    }
    try canceller.join()
    #expect(error.sqlState == SQLState.queryCanceled)
    #expect(error.kind == .server)
    #expect(try waiting.ask("select 1") == "1")
  }

  @Test func waitingForAnAnswerEndsAtTheTimeLimit() throws {
    connection.answerTimeout = ToolProcess.patience
    #expect(try connection.ask("select 1") == "1")
    try other.run("select pg_advisory_lock(1)")
    connection.answerTimeout = .milliseconds(50)
    let error = try #require(throws: PostgresError.self) {
      try connection.run("select pg_advisory_lock(1)")
    }
    #expect(error.kind == .timeout)
    #expect(error.statement == "select pg_advisory_lock(1)")
    #expect(error.isConnectionLoss)
    #expect(error.hint != nil)
  }

  /// While a statement lasts, the server is asked whether it is there. Here it takes longer to answer than each of the
  /// first of these probes waits.
  @Test func aServerThatIsMerelySlowIsNotLeft() throws {
    let proxy = try FaultyProxy(
      to: TestServer.shared.server.status().socketDirectory + "/.s.PGSQL.5432")
    defer { proxy.stop() }
    let conninfo = proxy.conninfo(database: database.name, user: "quake")
    try other.run("select pg_advisory_lock(7)")
    let hasEnded = Event()
    let waiting = BackgroundThread {
      defer { hasEnded.happen() }
      let connection = try TestServer.connect(conninfo)
      proxy.set(.crawl)
      try connection.run("select pg_advisory_lock(7)")
    }
    // More than are sent to a server that answers none of them.
    try eventually("six probes") { proxy.acceptedCount > 6 || hasEnded.wait(within: .zero) }
    try other.run("select pg_advisory_unlock(7)")
    try waiting.join()
  }

  /// A negative time would be a wait for ever.
  @Test func noNegativeTimeIsLeftAfterADeadline() {
    let before = MonotonicClock.milliseconds
    let deadline = Deadline(after: .zero)
    let then = MonotonicClock.milliseconds
    for milliseconds: Int64 in [0, 1, 16, 1_000_000, .max - then] {
      #expect(deadline.pollTimeout(at: then + milliseconds) == 0)
    }
    // The deadline lies between the two readings of the clock.
    #expect(deadline.pollTimeout(at: then - 1000) <= 1000)
    #expect(deadline.pollTimeout(at: before - 1000) >= 1000)
  }

  @Test func deadlinesCompareHoweverFarAwayTheyAre() {
    #expect(Deadline(after: .seconds(1)) < Deadline(after: .seconds(2)))
    #expect(Deadline(after: .zero).hasPassed)
    #expect(Deadline(after: .seconds(-5)).pollTimeout == 0)
    for far in [Duration.seconds(Int64.max), .seconds(Int64.max / 1000), .seconds(10_000_000_000)] {
      #expect(!Deadline(after: far).hasPassed)
      #expect(Deadline(after: far).pollTimeout == Int32.max)
      #expect(Deadline(after: .seconds(1)) < Deadline(after: far))
    }
  }
}
