import Postgres
import TestSupport

/// A transaction that begins first and commits last must be delivered, each time.
enum LateCommitCheck {
  /// The transactions of a round, each of one change.
  static let transactions = 3

  /// Rounds with two writers and a watcher: one writer changes something, the other changes something
  /// and commits, then the first one commits. In every other round the watcher has read the second before. A third
  /// change follows: when the watcher has printed that, the two before it do not come any more.
  ///
  /// - Returns: What was wrong; it stops at the first change that does not come.
  static func run(rounds: Int, in database: TestDatabase) throws -> Violations {
    var violations = Violations(feed: "late commits")
    let feed = try FeedProcess(database.conninfo, ["--from-start"])
    let early = try database.connect(applicationName: "early")
    let late = try database.connect(applicationName: "late")
    for round in 1...rounds {
      try late.run("begin")
      try insert(late, "late-\(round)")
      try insert(early, "early-\(round)")
      // Alternately the watcher has read the early one when the late one commits, and may have.
      if round.isMultiple(of: 2) { try feed.waitForLines(transactions * (round - 1) + 1) }
      try late.run("commit")
      try insert(early, "after-\(round)")
      let newest = try early.ask("select max(token) from quake.change_transaction")
      try feed.waitForToken(Int64(newest ?? "") ?? .max)
      if feed.recorder.lineCount < transactions * round { break }
    }
    try feed.stop()
    let history = try KnownHistory(over: database.connect())
    violations.add(
      ChangeOracle(history).judge(feed.recorder.lines, of: "late commits").violations)
    return violations
  }

  private static func insert(_ connection: Connection, _ code: String) throws {
    try connection.execute(
      "insert into quake.quake (code, time, magnitude) values ($1, now(), 3)", [.text(code)])
  }
}

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

/// A load without faults of the surroundings: writers, some watchers, the oracle.
enum LoadCheck {
  static func run(changes: Int, in database: TestDatabase) throws -> Violations {
    let feeds = try [nil, nil, FeedFilters.operations].map { filter in
      try WatchedFeed(
        filter?.name ?? "all", database.conninfo, ["--heartbeat", "200ms"], filter: filter)
    }
    var settings = Load.Settings(changes: changes)
    settings.largestBatch = 3
    let load = Load(settings, database.conninfo)
    try load.join()
    let connection = try database.connect()
    try connection.run("insert into quake.quake (code, time) values ('the end', now())")
    let history = try KnownHistory(over: connection, filters: FeedFilters.all)
    let last = history.changes.last?.token ?? 0
    for feed in feeds {
      try feed.process.waitForToken(last)
      try feed.process.stop()
    }
    let oracle = ChangeOracle(history)
    var violations = try HistoryCheck.run(over: connection, log: load.log)
    for feed in feeds { violations.add(feed.judge(oracle)) }
    return violations
  }
}
