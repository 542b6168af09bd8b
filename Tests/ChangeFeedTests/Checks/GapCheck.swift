import TestSupport

/// A watcher that comes to a place where transactions are missing ends there, with status 65.
enum GapCheck {
  /// - Parameter tool: The program; nil is the built one.
  static func run(tool: String?, in database: TestDatabase) throws -> Violations {
    var violations = Violations(feed: "gap")
    let connection = try database.connect()
    for number in 1...30 {
      try connection.run("insert into quake.quake (code, time) values ('g\(number)', now())")
    }
    try connection.run(
      """
      delete from quake.quake_version v using quake.change_transaction t
       where t.transaction_id = v.transaction_id and t.token between 11 and 20
      """, "delete from quake.change_transaction where token between 11 and 20")
    let feed = try FeedProcess(database.conninfo, ["--from-start", "--no-follow"], tool: tool)
    let outcome = try feed.end()
    if outcome.status != 65 || feed.recorder.lineCount != 10 {
      violations.add(.lost, "status \(outcome.status) after \(feed.recorder.lineCount) lines")
    }
    return violations
  }
}
