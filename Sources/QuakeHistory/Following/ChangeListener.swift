public import Postgres
internal import SystemClock

/// Tells that the history may have grown: listens for the notification that each commit sends. Nothing
/// is ever read from a notification but that; the history itself is what counts.
///
/// Where no notification can come, a wait is a pause, after which the history is to be read.
public struct ChangeListener {
  /// Why the listener polls for a while, although its session could listen.
  public enum Silence: Sendable {
    /// Notifications come without end, and bring no changes: somebody else sends them.
    case flood
    /// The server's notification queue is so full that commits do not notify.
    case fullQueue
  }

  private let connection: Connection
  /// What the connection leads to; only a session of one's own can listen.
  public let session: SessionKind
  /// Whether the server notifies now.
  public private(set) var isListening = false
  /// Why it does not, where it could.
  public private(set) var silence: Silence?
  /// When to listen again, or to look at the queue again.
  private var silenceEnd = Deadline(after: .zero)
  private var floodPause = Self.shortestPause
  /// Notifications that brought nothing, less those that did.
  private var emptyNotifications = 0
  private var lastWait: LastWait?

  private enum LastWait { case notified, timedOut }

  /// How long a wait lasts where nothing notifies.
  public static let pollInterval = Duration.seconds(1)

  private static let shortestPause = Duration.seconds(10)
  private static let longestPause = Duration.seconds(300)
  /// A page may bring the changes of several commits, whose notifications then bring nothing.
  private static let emptyNotificationsOfFlood = 64
  private static let worthOfChanges = 8

  /// Begins to listen over `connection`, if it leads to a session that can.
  public init(connection: Connection, session: SessionKind) throws(PostgresError) {
    self.connection = connection
    self.session = session
    try resume()
  }

  /// Listens again after `pause`, or after a silence. What was committed in between did not notify: read
  /// the history to its end before waiting.
  ///
  /// - Returns: Whether it had not been listening, and is now.
  @discardableResult
  public mutating func resume() throws(PostgresError) -> Bool {
    guard session == .direct, !isListening else { return false }
    if let silence {
      guard silenceEnd.hasPassed else { return false }
      if silence == .fullQueue, try isQueueFull() {
        silenceEnd = Deadline(after: Self.shortestPause)
        return false
      }
      self.silence = nil
      emptyNotifications = 0
    }
    try connection.execute("listen quake_changes")
    isListening = true
    return true
  }

  /// Stops listening, because nobody will take the notifications for a while: the server keeps them
  /// for all listeners until the slowest has had them.
  public mutating func pause() throws(PostgresError) {
    guard isListening else { return }
    isListening = false
    try connection.execute("unlisten *")
  }

  /// Waits for a notification, at most for `duration`; where none can come, at most for `pollInterval`.
  /// Any number of notifications are one.
  ///
  /// - Parameter rest: For how long not to look for one, to begin with.
  public mutating func wait(for duration: Duration, rest: Duration = .zero, wake: Int32)
    throws(PostgresError) -> Connection.WaitOutcome
  {
    lastWait = nil
    let deadline = Deadline(after: isListening ? duration : min(duration, Self.pollInterval))
    if rest > .zero, Connection.pause(for: rest, wake: wake) == .woken { return .woken }
    // A notification that came with the answer to a query is here already.
    while try !connection.dropNotifications() {
      let outcome = connection.wait(until: deadline, wake: wake)
      if outcome == .timedOut, isListening { lastWait = .timedOut }
      guard outcome == .ready else { return outcome }
      // What comes may be no notification, without end.
      if deadline.hasPassed { return .timedOut }
    }
    lastWait = .notified
    return .ready
  }

  /// Takes in what the history held after the last wait, and stops listening for a while if that costs
  /// more than it brings.
  ///
  /// - Parameter foundChanges: Whether anything new was there.
  public mutating func hasRead(foundChanges: Bool) throws(PostgresError) {
    defer { lastWait = nil }
    switch (lastWait, foundChanges) {
    case (.notified, true):
      emptyNotifications = max(0, emptyNotifications - Self.worthOfChanges)
    case (.notified, false):
      emptyNotifications += 1
      guard emptyNotifications >= Self.emptyNotificationsOfFlood else { return }
      try pause()
      silence = .flood
      silenceEnd = Deadline(after: floodPause)
      floodPause = min(floodPause * 2, Self.longestPause)
    case (.timedOut, true):
      // A commit that did not notify, or did so just now.
      guard isListening, try isQueueFull() else { return }
      try pause()
      silence = .fullQueue
      silenceEnd = Deadline(after: Self.shortestPause)
    case (.timedOut, false):
      floodPause = Self.shortestPause
    case (nil, _): break
    }
  }

  /// Whether the queue is so full that the trigger of the history does not notify
  /// (`quake.change_pending__number`).
  private func isQueueFull() throws(PostgresError) -> Bool {
    try connection.execute("select pg_notification_queue_usage() >= 0.25").bool(0, 0) == true
  }
}
