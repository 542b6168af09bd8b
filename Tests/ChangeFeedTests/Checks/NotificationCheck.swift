import Basics
import Postgres
import TestSupport

/// The notification is sent when the change can be read, and its payload is right.
enum NotificationCheck {
  /// How soon a watcher that has been idle for two seconds at most must have printed a change. Without a notification
  /// it reads the history three seconds later.
  private static let prompt = Duration.milliseconds(2500)
  /// Twice a minute it reads the history in between, from the start of its program on.
  private static let longestRun = Duration.seconds(25)
  /// A busy machine may delay any watcher, but not this many one after the other.
  private static let mostRounds = 20

  /// A writer is held up before its commit, until everything that was sent until then has arrived. The database must
  /// have `SQLMutation.stopBeforeCommit`.
  static func run(in database: TestDatabase) throws -> Violations {
    var violations = Violations(feed: "notification")
    let gate = try database.connect(applicationName: "gate")
    let listener = try database.connect()
    try listener.run("listen quake_changes", "listen quake_marker")
    var isPrompt = false
    for round in 1...mostRounds where round <= 2 || !isPrompt && violations.isEmpty {
      let started = ContinuousClock.now
      let feed = try FeedProcess(database.conninfo, [])
      let idle = try waitUntilIdle(gate)
      try gate.run("select pg_advisory_lock(43)")
      let writer = BackgroundThread {
        try database.connect(applicationName: "writer").run(
          "insert into quake.quake (code, time) values ('\(round)', now())")
      }
      guard try gate.waitUntilBlocked(applicationName: "writer") else {
        throw ToolProcess.Failure(description: "the writer does not wait")
      }
      let early = try notifications(of: listener, before: "\(round) early", from: gate)
      if let first = early.first {
        violations.add(.earlyNotification, "\"\(first.payload)\" came before the commit")
      }
      try gate.run("select pg_advisory_unlock(43)")
      try writer.join()
      try feed.waitForLines(1)
      let printed = ContinuousClock.now
      if printed - idle < prompt && printed - started < longestRun { isPrompt = true }
      try feed.stop()
      let late = try notifications(of: listener, before: "\(round) late", from: gate)
      try judge(early + late, over: gate, &violations)
    }
    if violations.isEmpty, !isPrompt {
      violations.add(.late, "never sooner than without a notification")
    }
    return violations
  }

  /// Waits until the watcher reads the history every five seconds only, and has just done it.
  ///
  /// - Returns: A moment at which it had been idle for two seconds at most.
  private static func waitUntilIdle(_ connection: Connection) throws -> ContinuousClock.Instant {
    var asked = ContinuousClock.now
    try eventually("the watcher is idle") {
      asked = .now
      return try connection.ask(
        """
        select count(*) = 1
               and bool_and(state = 'idle' and query like 'select t.token, v.id%'
                            and clock_timestamp() - query_start
                                between interval '1.3 s' and interval '2 s')
          from pg_stat_activity
         where datname = current_database() and application_name = 'quake-watch'
        """) == "t"
    }
    return asked
  }

  /// The notifications of changes that were sent before a marker, which another session sends now.
  private static func notifications(
    of listener: Connection, before marker: String, from sender: Connection
  ) throws -> [ServerNotification] {
    try sender.run("notify quake_marker, '\(marker)'")
    var sent: [ServerNotification] = []
    let deadline = Deadline(after: ToolProcess.patience)
    while true {
      for notification in try listener.takeNotifications() {
        if notification.payload == marker { return sent }
        sent.append(notification)
      }
      guard listener.wait(until: deadline) == .ready else {
        throw ToolProcess.Failure(description: "the marker \(marker) does not come")
      }
    }
  }

  /// There is one for the transaction, and it says what the history says.
  private static func judge(
    _ notifications: [ServerNotification], over connection: Connection,
    _ violations: inout Violations
  ) throws {
    guard let first = notifications.first else {
      return violations.add(.wrongNotification, "there was none")
    }
    let payload = try? JSONLine(first.payload)
    let known = try connection.ask(
      """
      select inserted || ' ' || updated || ' ' || deleted || ' ' || truncated
        from quake.change_transaction where token || '.' || nonce = $1
      """, [.text(payload?.string("token") ?? "")])
    let said = ["inserted", "updated", "deleted", "truncated"]
      .map { payload?.integer($0).map(String.init) ?? "?" }.joined(separator: " ")
    if known != said || notifications.count > 1 {
      violations.add(
        .wrongNotification, "\(first.payload), but \(known ?? "there is no such transaction")")
    }
  }
}
