import EmbeddedPostgres
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

/// A change committed while a watcher begins to listen does not wait until the watcher reads the history
/// without a notification, a second later.
enum ListenCheck {
  private static let prompt = Duration.milliseconds(500)
  /// A busy machine may delay any watcher, but not this many one after the other.
  private static let mostRounds = 20

  /// The watcher's `listen` is held up until a change has been committed, until a watcher has been prompt. Without
  /// the notification, none is.
  ///
  /// - Parameter tool: The program; nil is the built one.
  static func run(tool: String?, in database: TestDatabase) throws -> Violations {
    var violations = Violations(feed: "listen")
    let socket = try TestServer.shared.server.status().socketDirectory + "/.s.PGSQL.5432"
    let proxy = try FaultyProxy(to: socket)
    defer { proxy.stop() }
    let connection = try database.connect()
    var delays: [Duration] = []
    for round in 1...mostRounds where !delays.contains(where: { $0 <= prompt }) {
      let hold = proxy.hold("listen quake_changes")
      let feed = try FeedProcess(
        proxy.conninfo(database: database.name, user: "quake"), [], tool: tool)
      try hold.isHeld.require("the watcher listens")
      try connection.run("insert into quake.quake (code, time) values ('\(round)', now())")
      let begun = ContinuousClock.now
      hold.mayPass.happen()
      try feed.waitForLines(1)
      delays.append(ContinuousClock.now - begun)
      try feed.stop()
    }
    if let least = delays.min(), least > prompt {
      violations.add(.late, "never sooner than \(least)")
    }
    return violations
  }
}

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
