internal import Basics
package import Postgres

/// Waits for the notification that each commit sends on channel `quake_changes`.
///
/// A notification only tells that the history may have grown; its payload is never used. At a hot standby it
/// waits for the replay instead; behind a pooler a wait is a pause, after which the history is to be read.
struct ChangeListener {
  private let connection: Connection
  /// The kind of session that the connection has; only a direct session on a primary can listen.
  private let session: SessionKind
  private(set) var isListening = false
  /// Why it does not listen, although the session can.
  private(set) var pollingReason: HistoryFollower.PollingReason?
  /// When to listen again, or to look at the queue again.
  private var pollingEnd = Deadline(after: .zero)
  private var pollingTime = Self.shortestPollingTime
  /// Notifications without changes, minus `usefulNotificationWeight` for each one with changes; at least 0.
  private var uselessNotifications = 0
  private var lastWait: LastWait?
  private var replay = ReplayPoll()

  private enum LastWait { case notified, timedOut }

  private static let shortestPollingTime = Duration.seconds(10)
  private static let longestPollingTime = Duration.seconds(300)
  /// A page may hold the changes of several commits, whose notifications then bring nothing.
  private static let uselessNotificationsLimit = 64
  /// The number of useless notifications that one with changes offsets.
  private static let usefulNotificationWeight = 8

  /// Begins to listen over `connection`, if it leads to a session that can.
  init(connection: Connection, session: SessionKind) throws(PostgresError) {
    self.connection = connection
    self.session = session
    try resume()
  }

  /// Listens again after `pause`, or when the reason to poll may have passed. Commits in between sent no
  /// notification: read the history to its end before waiting.
  ///
  /// - Returns: Whether it was not listening, and is now.
  @discardableResult
  mutating func resume() throws(PostgresError) -> Bool {
    guard session == .direct, !isListening else { return false }
    if let pollingReason {
      guard pollingEnd.hasPassed else { return false }
      if pollingReason == .fullQueue, try isQueueFull() {
        pollingEnd = Deadline(after: Self.shortestPollingTime)
        return false
      }
      self.pollingReason = nil
      uselessNotifications = 0
    }
    try connection.execute("listen quake_changes")
    isListening = true
    return true
  }

  /// Stops listening, because the program will not read notifications for a while: the server keeps them
  /// for all listeners until the slowest has read them.
  mutating func pause() throws(PostgresError) {
    guard isListening else { return }
    isListening = false
    try connection.execute("unlisten *")
  }

  /// Whether its session was one at a hot standby, and can listen now.
  var isPromoted: Bool { replay.isPromoted }

  /// Waits for a notification until `deadline`; behind a pooler, where none can come, at most for the poll interval.
  /// Any number of notifications count as one.
  mutating func wait(until deadline: Deadline, wake: Int32) throws(PostgresError)
    -> Connection.WaitOutcome
  {
    lastWait = nil
    if session == .standby { return try replay.wait(over: connection, until: deadline, wake: wake) }
    let deadline =
      isListening ? deadline : min(deadline, Deadline(after: HistoryFollower.pollInterval))
    // A notification that came with the answer to a query has arrived already.
    while try !connection.dropNotifications() {
      let outcome = connection.wait(until: deadline, wake: wake)
      if outcome == .timedOut, isListening { lastWait = .timedOut }
      guard outcome == .ready else { return outcome }
    }
    lastWait = .notified
    return .ready
  }

  /// Takes into account what the read after the last wait found, and stops listening for a while if that
  /// costs more than it brings.
  ///
  /// - Parameter foundChanges: Whether there were new changes.
  mutating func hasRead(foundChanges: Bool) throws(PostgresError) {
    defer { lastWait = nil }
    replay.hasRead(foundChanges: foundChanges)
    switch (lastWait, foundChanges) {
    case (.notified, true):
      uselessNotifications = max(0, uselessNotifications - Self.usefulNotificationWeight)
    case (.notified, false):
      uselessNotifications += 1
      guard uselessNotifications >= Self.uselessNotificationsLimit else { return }
      try pause()
      pollingReason = .uselessNotifications
      pollingEnd = Deadline(after: pollingTime)
      pollingTime = min(pollingTime * 2, Self.longestPollingTime)
    case (.timedOut, true):
      // A commit that did not notify, or did so just now.
      guard isListening, try isQueueFull() else { return }
      try pause()
      pollingReason = .fullQueue
      pollingEnd = Deadline(after: Self.shortestPollingTime)
    case (.timedOut, false):
      pollingTime = Self.shortestPollingTime
    case (nil, _): break
    }
  }

  /// Whether the queue is so full that the trigger of the history does not notify
  /// (`quake.change_pending__number`).
  private func isQueueFull() throws(PostgresError) -> Bool {
    try connection.row("select pg_notification_queue_usage() >= 0.25", as: Bool.self)
  }
}

/// The kind of server process behind a connection. Only a direct session on a primary can `LISTEN`.
package enum SessionKind: Sendable {
  /// A session on a primary.
  case direct
  /// A session on a hot standby, where there is no `LISTEN`.
  case standby
  /// A pooler that lends a session for each transaction: it accepts `LISTEN`, and then lends the session to
  /// another client.
  case pooled

  /// Finds out what `connection` leads to, and lets it prepare statements if the session is direct.
  ///
  /// - Parameter another: Opens a second connection to the same database; is called only if a pooler is in
  ///   between.
  package static func of(
    _ connection: Connection, another: () throws(PostgresError) -> Connection
  ) throws(PostgresError) -> SessionKind {
    let (isStandby, processID) = try connection.row(
      "select pg_is_in_recovery(), pg_backend_pid()", as: (Bool, Int32).self)
    if isStandby { return .standby }
    // A pooler answers the client's connection request itself, with an invented process id.
    guard processID != connection.serverProcessID else { return .direct }
    connection.keepsStatements = try !isPooled(connection, another: another)
    return connection.keepsStatements ? .direct : .pooled
  }

  /// A pooled session returns to the pooler between two statements, and the next client gets it; a direct
  /// one stays with its client. Other clients may use the session in between, so this tries more than once.
  private static func isPooled(
    _ connection: Connection, another: () throws(PostgresError) -> Connection
  ) throws(PostgresError) -> Bool {
    let first = try process(of: connection)
    let second = try another()
    for _ in 0..<5 {
      if try process(of: second) == first { return true }
      if try process(of: connection) != first { return true }
    }
    return false
  }

  private static func process(of connection: Connection) throws(PostgresError) -> Int32 {
    try connection.row("select pg_backend_pid()", as: Int32.self)
  }
}
