import Postgres
import TestSupport

/// No transaction is committed before another that has a smaller number.
enum OvertakingCheck {
  /// A writer is held up between its number and its commit, while another one commits or waits to. The
  /// database must have `SQLMutation.stopAfterNumber`.
  static func run(in database: TestDatabase) throws -> Violations {
    let feed = try FeedProcess(database.conninfo, ["--from-start"])
    let gate = try database.connect(applicationName: "gate")
    try gate.run("select pg_advisory_lock(42)")
    let isDone = Event()
    let late = BackgroundThread { try insert(database, "late") }
    guard try gate.waitUntilBlocked(applicationName: "late") else {
      throw ToolProcess.Failure(description: "the late writer does not wait")
    }
    let early = BackgroundThread {
      try insert(database, "early")
      isDone.happen()
    }
    // With the lock it waits for the late one; without, it commits, and the watcher reads it.
    var isBlocked = false
    try eventually("the early writer commits or waits") {
      isBlocked =
        try gate.ask(
          """
          select (exists (select from pg_stat_activity early, pg_stat_activity late
                   where early.application_name = 'early' and late.application_name = 'late'
                     and early.datname = current_database() and late.datname = current_database()
                     and late.pid = any (pg_blocking_pids(early.pid))))::text
          """) == "true"
      return isBlocked || isDone.wait(within: .zero)
    }
    if !isBlocked { try feed.waitForLines(1) }
    try gate.run("select pg_advisory_unlock(42)")
    try late.join()
    try early.join()
    // When the watcher has printed this, the two before it do not come any more.
    try insert(database, "after")
    let history = try KnownHistory(over: database.connect())
    try feed.waitForToken(history.changes.last?.token ?? .max)
    try feed.stop()
    return ChangeOracle(history).judge(feed.recorder.lines, of: "overtaking").violations
  }

  private static func insert(_ database: TestDatabase, _ name: String) throws {
    let connection = try database.connect(applicationName: name)
    try connection.run("insert into quake.quake (code, time) values ('\(name)', now())")
  }
}
