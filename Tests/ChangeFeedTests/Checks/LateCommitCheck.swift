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
