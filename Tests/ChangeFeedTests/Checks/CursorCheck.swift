import Foundation
import QuakeModel
import TestSupport

/// What a watcher keeps as its place is never ahead of what has left it.
enum CursorCheck {
  /// A watcher whose output stalls is killed; what had come out of it, and its state file, are compared.
  ///
  /// - Parameter tool: The program; nil is the built one.
  static func run(tool: String?, in database: TestDatabase) throws -> Violations {
    var violations = Violations(feed: "cursor")
    let folder = try TemporaryFolder()
    let file = folder.path + "/cursor"
    let connection = try database.connect()
    let feed = try FeedProcess(
      database.conninfo, ["--from-start", "--state", file], tool: tool, pipeSize: 4096,
      isRead: false)
    // More than the pipe takes, in small transactions.
    for number in 1...12 {
      try connection.run("insert into quake.quake (code, time) values ('\(number)', now())")
    }
    guard
      try connection.eventually(
        """
        exists (select from pg_stat_activity
                 where datname = current_database() and application_name = 'quake-watch'
                   and state = 'idle' and query like 'unlisten%')
        """)
    else { throw ToolProcess.Failure(description: "the watcher's output does not stall") }
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try feed.kill()
    let oracle = ChangeOracle(try KnownHistory(over: connection))
    let verdict = oracle.judge(feed.recorder.lines, of: "cursor", isWhole: false)
    violations.add(verdict.violations)
    guard let place = HistoryCursor(text.trimmingCharacters(in: .newlines)),
      let kept = oracle.index(after: place)
    else {
      violations.add(.wrongCursor, "\"\(text)\" is no place in the history")
      return violations
    }
    if kept > verdict.next {
      violations.add(.wrongCursor, "\(kept) changes are done, but \(verdict.next) were printed")
    }
    if verdict.next == 0 || verdict.next >= 12 {
      throw ToolProcess.Failure(description: "\(verdict.next) changes were printed")
    }
    return violations
  }
}
