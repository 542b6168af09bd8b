import Postgres
import TestSupport
import Testing

@testable import QuakeStore

@Suite("Who polls a feed")
struct FeedLockTests {
  private let database: TestDatabase
  private let first: Connection
  private let second: Connection

  init() throws {
    database = try TestDatabase()
    first = try database.connect()
    second = try database.connect()
    try FeedState.register([("day", "d"), ("hour", "h"), ("month", "m")], over: first)
  }

  private func holders(_ limit: Duration = .seconds(30)) throws -> [FeedLock.Holder] {
    try FeedLock.holders(of: ["day", "hour", "month"], idleLimit: limit, over: second)
  }

  private func condition(_ limit: Duration) throws -> FeedLock.Condition? {
    try holders(limit).first?.condition
  }

  @Test("is one session at a time, until it ends")
  func exclusive() throws {
    #expect(try FeedLock.take(["day", "hour"], over: first).sorted() == ["day", "hour"])
    #expect(try FeedLock.take(["day", "hour", "month"], over: second) == ["month"])
    #expect(try FeedLock.take([], over: second) == [])
    #expect(
      try first.table(
        """
        select name, held, holder_pid is not distinct from $1::integer, holder_address is null
          from quake.feed_status order by name
        """, [.integer(Int64(first.serverProcessID))])
        == ["day|t|t|t", "hour|t|t|t", "month|t|f|t"])
    try second.run("select pg_terminate_backend(\(first.serverProcessID))")
    #expect(try second.eventually("not (select held from quake.feed_status where name = 'day')"))
    #expect(try FeedLock.take(["day", "hour"], over: second).sorted() == ["day", "hour"])
  }

  @Test("is not confused by other locks, nor by other databases")
  func otherLocks() throws {
    let elsewhere = try TestDatabase()
    let other = try elsewhere.connect()
    try FeedState.register([("day", "d")], over: other)
    #expect(try FeedLock.take(["day"], over: other) == ["day"])
    try first.run(
      "select pg_advisory_lock(x'7175616b6501'::bigint)",
      "select pg_advisory_lock(1903518060, quake.feed_lock_key('day'))",
      "select pg_advisory_lock_shared(1903518059, quake.feed_lock_key('month'))",
      "select pg_advisory_lock((1903518059::bigint << 32) + (quake.feed_lock_key('hour')::bigint & 4294967295))"
    )
    #expect(try first.ask("select count(*) from quake.feed_status where held") == "0")
    #expect(try first.ask("select count(*) from quake.feed_status") == "3")
    #expect(try FeedLock.take(["day", "hour"], over: second).sorted() == ["day", "hour"])
  }

  @Test("is a key of the name, negative ones too")
  func keys() throws {
    let names = (0..<50).map { "feed\($0)" }
    try FeedState.register(names.map { ($0, "x") }, over: first)
    #expect(try FeedLock.take(names, over: first).count == 50)
    #expect(try first.ask("select count(*) from quake.feed_status where held") == "50")
    #expect(
      try first.ask(
        "select min(quake.feed_lock_key(name)) < 0 and max(quake.feed_lock_key(name)) > 0 from quake.feed_status"
      )
        == "t")
    // Documented, so that others can name it.
    #expect(try first.ask("select quake.feed_lock_key('all_day')") == "889881767")
  }

  @Test("is seen to have stopped when its server process has waited for it for long")
  func stalled() throws {
    #expect(try FeedLock.take(["day"], over: first) == ["day"])
    #expect(try holders().map(\.feed) == ["day"])
    #expect(try holders().map(\.processID) == [Int(first.serverProcessID)])
    #expect(try condition(.seconds(30)) == .alive)
    #expect(try eventually(.stalled, .milliseconds(20)))
    // A statement is a sign of life.
    try first.run("select")
    #expect(try condition(.seconds(10)) == .alive)
    // So a transaction left open is not.
    try first.run("begin")
    #expect(try eventually(.stalled, .milliseconds(20)))
    // One that works is not stalled, however long it takes.
    try first.run("rollback")
    #expect(try condition(.seconds(10)) == .alive)
  }

  @Test("is given more time within a COPY")
  func copying() throws {
    #expect(try FeedLock.take(["day"], over: first) == ["day"])
    try first.run("create temporary table t (a bigint)")
    try first.copyIn("copy t from stdin (format binary)") { writer in
      #expect(
        try second.eventually(
          """
          (select clock_timestamp() - state_change > interval '300 ms' and wait_event = 'ClientRead'
             from pg_stat_activity where pid = \(first.serverProcessID))
          """))
      #expect(try condition(.milliseconds(10)) == .stalled)
      #expect(try condition(.seconds(10)) == .alive)
      try writer.beginRow(columnCount: 1)
      try writer.int8(1)
    }
  }

  private func eventually(_ wanted: FeedLock.Condition, _ limit: Duration) throws -> Bool {
    let deadline = Deadline(after: .seconds(20))
    while !deadline.hasPassed {
      if try condition(limit) == wanted { return true }
    }
    return false
  }

  @Test("can be ended by the same role; another's life is hidden")
  func ending() throws {
    #expect(try FeedLock.take(["day"], over: first) == ["day"])
    let holder = try #require(try holders().first)
    let role = "quake_test_stranger"
    try second.run(
      "do $$ begin create role \(role); exception when duplicate_object then null; end $$",
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
