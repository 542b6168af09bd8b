import Foundation
import Postgres
import SystemClock
import TestSupport

/// The notification is sent when the change can be read, and its payload is right.
enum NotificationCheck {
  /// How soon a watcher must have printed a change. Without a notification it polls after a second.
  private static let prompt = Duration.milliseconds(500)

  static func run(in database: TestDatabase) throws -> Violations {
    var violations = Violations(feed: "notification")
    let writer = try database.connect()
    let listener = try database.connect()
    try listener.run("listen quake_changes")
    let feed = try FeedProcess(database.conninfo, ["--from-start"])
    var delays: [Duration] = []
    for round in 1...2 {
      // From then on it asks every five seconds only.
      guard
        try writer.eventually(
          """
          exists (select from pg_stat_activity
                   where datname = current_database() and application_name = 'quake-watch'
                     and state = 'idle' and clock_timestamp() - query_start > interval '1.3 s')
          """)
      else { throw ToolProcess.Failure(description: "the watcher is never idle") }
      try writer.run("insert into quake.quake (code, time) values ('\(round)', now())")
      let committed = ContinuousClock.now
      try feed.waitForLines(round)
      delays.append(ContinuousClock.now - committed)
      try judgeNotification(listener, &violations)
    }
    try feed.stop()
    if let least = delays.min(), least > prompt {
      violations.add(.late, "never sooner than \(least) after the commit")
    }
    return violations
  }

  private static func judgeNotification(
    _ listener: Connection, _ violations: inout Violations
  ) throws {
    let deadline = Deadline(after: .seconds(10))
    while true {
      let notifications = try listener.takeNotifications()
      if let first = notifications.first {
        let payload = try? JSONLine(first.payload)
        let token = payload?.string("token") ?? ""
        let known = try listener.ask(
          """
          select inserted || ' ' || updated || ' ' || deleted || ' ' || truncated
            from quake.change_transaction where token || '.' || nonce = $1
          """, [.text(token)])
        let said = ["inserted", "updated", "deleted", "truncated"]
          .map { payload?.integer($0).map(String.init) ?? "?" }.joined(separator: " ")
        if known != said || notifications.count > 1 {
          violations.add(
            .wrongNotification, "\(first.payload), but \(known ?? "there is no such transaction")")
        }
        return
      }
      guard listener.wait(until: deadline) == .ready else {
        return violations.add(.wrongNotification, "there was none")
      }
    }
  }
}
