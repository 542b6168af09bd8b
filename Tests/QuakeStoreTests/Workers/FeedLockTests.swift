import Glibc
import Postgres
import TestSupport
import Testing

@testable import Basics
@testable import QuakeWorker

@Suite struct FeedLockTests {
  private let database: TestDatabase
  private let first: Connection
  private let second: Connection

  init() throws {
    database = try TestDatabase()
    first = try database.connect()
    second = try database.connect()
    try FeedState.register([("day", "d"), ("hour", "h"), ("month", "m")], over: first)
  }

  private func acquire(_ feeds: [String], over connection: Connection) throws -> [String] {
    try FeedLock.acquire(feeds, over: connection).map(\.feed)
  }

  private func holders(_ limit: Duration = .seconds(30)) throws -> [FeedLock.Holder] {
    try FeedLock.holders(of: ["day", "hour", "month"], idleLimit: limit, over: second)
  }

  private func condition(_ limit: Duration) throws -> FeedLock.Condition? {
    try holders(limit).first?.condition
  }

  @Test func aFeedHasOnePollingSessionAtATime() throws {
    #expect(try acquire(["day", "hour"], over: first).sorted() == ["day", "hour"])
    #expect(try acquire(["day", "hour", "month"], over: second) == ["month"])
    #expect(try acquire([], over: second) == [])
    #expect(
      try first.table(
        """
        select name, held, holder_pid is not distinct from $1::integer, holder_address is null
          from quake.feed_status order by name
        """, [.integer(Int64(first.serverProcessID))])
        == ["day|t|t|t", "hour|t|t|t", "month|t|f|t"])
    try second.run("select pg_terminate_backend(\(first.serverProcessID))")
    #expect(try second.eventually("not (select held from quake.feed_status where name = 'day')"))
    #expect(try acquire(["day", "hour"], over: second).sorted() == ["day", "hour"])
  }

  @Test func otherLocksAndDatabasesDoNotAffectAFeedLock() throws {
    let elsewhere = try TestDatabase()
    let other = try elsewhere.connect()
    try FeedState.register([("day", "d")], over: other)
    #expect(try acquire(["day"], over: other) == ["day"])
    try first.run(
      "select pg_advisory_lock(x'7175616b6501'::bigint)",
      "select pg_advisory_lock(1903518060, quake.feed_lock_key('day'))",
      "select pg_advisory_lock_shared(1903518059, quake.feed_lock_key('month'))",
      "select pg_advisory_lock((1903518059::bigint << 32) + (quake.feed_lock_key('hour')::bigint & 4294967295))"
    )
    #expect(try first.ask("select count(*) from quake.feed_status where held") == "0")
    #expect(try first.ask("select count(*) from quake.feed_status") == "3")
    #expect(try acquire(["day", "hour"], over: second).sorted() == ["day", "hour"])
  }

  /// A role that may connect and read, and no more.
  private func outsider() throws -> Connection {
    let role = "quake_test_outsider"
    try first.run(
      "do $$ begin create role \(role) login; exception when duplicate_object or unique_violation then null; end $$",
      "grant usage on schema quake to \(role)", "grant select on quake.feed_status to \(role)")
    return try database.connect(as: role)
  }

  @Test(arguments: ["", "_shared"])
  func aRoleThatMayOnlyConnectCannotHoldAFeed(_ mode: String) throws {
    let outsider = try outsider()
    let key = try #require(try first.ask("select lock_key from quake.feed where name = 'day'"))
    try outsider.run("select pg_advisory_lock\(mode)(1903518059, \(key))")
    #expect(try first.ask("select held from quake.feed_status where name = 'day'") == "f")
    let taken = try #require(try FeedLock.acquire(["day"], over: first).first)
    #expect(taken.feed == "day")
    #expect(
      taken.displaced
        == FeedLock.ForeignSession(
          processID: Int(outsider.serverProcessID), role: "quake_test_outsider"))
    #expect(try first.ask("select held from quake.feed_status where name = 'day'") == "t")
    #expect(try first.ask("select lock_key = \(key) from quake.feed where name = 'day'") == "f")
    // No other session has it besides, also when the outsider releases the old number, or waits for the new.
    try outsider.run("select pg_advisory_unlock_all()")
    #expect(try acquire(["day"], over: second) == [])
    #expect(throws: PostgresError.self) { try outsider.run("select lock_key from quake.feed") }
    #expect(throws: PostgresError.self) {
      try outsider.run("select * from quake.feed_lock__take(array['hour'])")
    }
  }

  @Test func aPreparedTransactionOfAStrangerCannotHoldAFeed() throws {
    let outsider = try outsider()
    let key = try #require(try first.ask("select lock_key from quake.feed where name = 'day'"))
    try outsider.run(
      "begin", "select pg_advisory_xact_lock(1903518059, \(key))",
      "prepare transaction '\(database.name)'")
    defer { try? first.run("rollback prepared '\(database.name)'") }
    let taken = try #require(try FeedLock.acquire(["day"], over: first).first)
    #expect(taken.displaced == FeedLock.ForeignSession(processID: nil, role: nil))
  }

  @Test func aContendedFeedHasOneHolder() throws {
    let outsider = try outsider()
    for _ in 0..<20 {
      let key = try #require(try first.ask("select lock_key from quake.feed where name = 'day'"))
      try outsider.run("select pg_advisory_lock(1903518059, \(key))")
      let (tried, won) = (Tally(), Tally())
      let database = database
      try BackgroundThread.run(4) { _ in
        let connection = try database.connect()
        won.add(try FeedLock.acquire(["day"], over: connection).count)
        tried.add(1)
        // Whoever has it keeps it until all have tried.
        let deadline = Deadline(after: ToolProcess.patience)
        while tried.total < 4, !deadline.hasPassed { poll(nil, 0, 1) }
      }
      #expect(won.total <= 1)
      try outsider.run("select pg_advisory_unlock_all()")
    }
  }

  /// PostgreSQL keeps its list of sessions until the end of a transaction.
  @Test func aFeedIsNotTakenFromAWorkerThatConnectedLater() throws {
    try first.run("begin")
    _ = try first.ask("select count(*) from pg_stat_activity")
    let later = try database.connect()
    #expect(try FeedLock.acquire(["day"], over: later).map(\.feed) == ["day"])
    #expect(try acquire(["day"], over: first) == [])
    try first.run("rollback")
  }

  @Test func aStalledHolderOfAFeedIsSeen() throws {
    #expect(try acquire(["day"], over: first) == ["day"])
    #expect(try holders().map(\.feed) == ["day"])
    #expect(try holders().map(\.processID) == [Int(first.serverProcessID)])
    #expect(try condition(ToolProcess.patience) == .alive)
    #expect(try eventually(.stalled, .milliseconds(500)))
    // A statement is a sign of life, for a while that a busy machine may exceed before it is asked.
    try TestSupport.eventually("the session is alive after a statement") {
      try first.run("select")
      return try condition(.milliseconds(500)) == .alive
    }
    // So a transaction left open is not.
    try first.run("begin")
    #expect(try eventually(.stalled, .milliseconds(20)))
    // One that works is not stalled, however long it takes.
    try first.run("rollback")
    try second.run("select pg_advisory_lock(7)")
    _ = try first.prefetch("select pg_advisory_lock(7)")
    #expect(
      try second.eventually(
        """
        (select clock_timestamp() - state_change > interval '300 ms' and wait_event = 'advisory'
           from pg_stat_activity where pid = \(first.serverProcessID))
        """))
    #expect(try condition(.milliseconds(10)) == .alive)
    try second.run("select pg_advisory_unlock(7)")
    try first.finishPrefetch()
  }

  @Test func aHolderOfAFeedIsGivenMoreTimeWithinACopy() throws {
    #expect(try acquire(["day"], over: first) == ["day"])
    try first.run("create temporary table t (a bigint)")
    try first.copyIn("copy t from stdin (format binary)") { writer in
      #expect(
        try second.eventually(
          """
          (select clock_timestamp() - state_change > interval '300 ms' and wait_event = 'ClientRead'
             from pg_stat_activity where pid = \(first.serverProcessID))
          """))
      #expect(try condition(.milliseconds(10)) == .stalled)
      #expect(try condition(ToolProcess.patience) == .alive)
      try writer.beginRow(columnCount: 1)
      writer.values.int8(1)
    }
  }

  private func eventually(_ wanted: FeedLock.Condition, _ limit: Duration) throws -> Bool {
    let deadline = Deadline(after: ToolProcess.patience)
    while !deadline.hasPassed {
      if try condition(limit) == wanted { return true }
    }
    return false
  }

  @Test func aHolderOfAFeedCanBeEndedByTheSameRoleOnly() throws {
    #expect(try acquire(["day"], over: first) == ["day"])
    let holder = try #require(try holders().first)
    let role = "quake_test_stranger"
    try second.run(
      "do $$ begin create role \(role) login; exception when duplicate_object or unique_violation then null; end $$",
      "grant usage on schema quake to \(role)",
      "grant select on quake.feed_status to \(role)", "set role \(role)")
    #expect(try holders().map(\.condition) == [.hidden])
    #expect(throws: PostgresError.self) { try FeedLock.end(holder, over: second) }
    try second.run("reset role")
    try FeedLock.end(holder, over: second)
    #expect(try second.eventually("not (select held from quake.feed_status where name = 'day')"))
    #expect(throws: PostgresError.self) { try first.run("select") }
  }
}
