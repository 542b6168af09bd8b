import Basics
import CLinux
import Glibc
import Postgres
import QuakeHistory
import QuakeModel
import QuakeSchema
import Synchronization

/// The one reader of the history: follows it over one connection on a thread of its own, encodes it, and hands
/// the pages to the streams.
///
/// It recovers by itself: it reconnects after a lost connection, waits for a standby that lags, and begins anew
/// when the history has been replaced.
final class ChangeHub: Sendable {
  /// How far the hub has read, and why it does not follow the database at the moment.
  struct State: Sendable {
    /// Everything up to here has been handed to the streams; nil before the first connection.
    var cursor: HistoryCursor?
    /// Why it does not follow at the moment; nil if it does.
    var problem: String? = "the server has not connected to the database yet"
    /// Why it polls instead of listening; nil if it listens.
    var polling: String?
    /// Why this program must end: the schema is newer, and the ledger does not let it go on.
    var refusal: StoreError?
  }

  private let settings: ConnectionSettings
  private let mailbox: Mailbox<StreamMessage>
  private let pressure: Flag
  private let ended: WakeEvent
  private let report: @Sendable (ServerNotice) -> Void
  private let advanced: @Sendable (ChangeToken) -> Void
  private let state = Mutex(State())
  private let isStopped = Flag()

  /// - Parameters:
  ///   - ended: Raised when the server ends.
  ///   - report: Gets a message for the log when the database is lost, when it is back, and when its history is not
  ///     the one that was read.
  ///   - advanced: Gets the newest token that was read, each time it is another.
  init(
    _ settings: ConnectionSettings, mailbox: Mailbox<StreamMessage>, pressure: Flag,
    ended: WakeEvent,
    report: @escaping @Sendable (ServerNotice) -> Void,
    advanced: @escaping @Sendable (ChangeToken) -> Void
  ) {
    self.advanced = advanced
    self.settings = settings
    self.mailbox = mailbox
    self.pressure = pressure
    self.ended = ended
    self.report = report
  }

  var now: State { state.withLock { $0 } }

  func start() throws(ThreadError) {
    try DetachedThread.start { self.run() }
  }

  /// Ends the thread, once `ended` is raised.
  func stop() {
    isStopped.set()
  }

  // MARK: - The thread

  /// The state that the thread keeps from one connection to the next.
  private struct Following {
    let follower: HistoryFollower
    var answerTimeout = AnswerTimeout()
    var backoff = Backoff()
    var encoder = PageEncoder()
  }

  private func run() {
    var following = Following(
      follower: HistoryFollower { [settings, ended] () throws(PostgresError) in
        try Connection(settings, wake: ended.descriptor)
      })
    while !isStopped.isSet {
      do {
        try follow(&following)
      } catch {
        if let error = error as? PostgresError {
          if error.kind == .interrupted { continue }
          if error.kind == .timeout { following.answerTimeout.extend() }
        }
        note(Self.sentence(error))
        following.follower.disconnect()
        _ = Connection.pause(for: following.backoff.next(), wake: ended.descriptor)
      }
    }
  }

  private static func sentence(_ error: any Error) -> String {
    switch error {
    case let error as PostgresError: error.message
    case let error as StoreError: error.message
    default: "\(error)"
    }
  }

  /// Notes a problem, or nil when it is over; reports a change once.
  private func note(_ problem: String?) {
    let before = state.withLock { state in
      defer { state.problem = problem }
      return state.problem
    }
    guard (before == nil) != (problem == nil) else { return }
    report(
      problem.map {
        ServerNotice(.warning, "The streams have no connection to the database: \($0)")
      } ?? ServerNotice(.note, "The streams follow the database."))
  }

  /// Notes why it polls, or nil if it listens; reports a change once.
  private func notePolling(_ reason: String?) {
    let before = state.withLock { state in
      defer { state.polling = reason }
      return state.polling
    }
    guard before != reason else { return }
    report(
      ServerNotice(
        .note,
        reason.map { "The streams poll the database instead of listening: \($0)." }
          ?? "The streams listen to the database."))
  }

  /// Follows over one connection until it is lost.
  private func follow(_ following: inout Following) throws {
    let connection = try Connection(settings, wake: ended.descriptor)
    connection.interrupt = ended.descriptor
    connection.answerTimeout = following.answerTimeout.duration
    try checkSchema(of: connection)
    let follower = following.follower
    while !isStopped.isSet {
      try follower.connect(over: connection)
      do {
        try begin(follower, over: connection)
        try readAndWait(&following, over: connection)
        return
      } catch let error as StoreError {
        guard case .token = error.kind else { throw error }
        if try follower.isLate(error) {
          note(error.message)
          _ = Connection.pause(for: HistoryFollower.pollInterval, wake: ended.descriptor)
        } else {
          let before = follower.cursor
          try restart(follower, over: connection)
          report(Self.notice(of: error, before: before, after: follower.cursor))
          _ = Connection.pause(for: .milliseconds(500), wake: ended.descriptor)
        }
      }
    }
  }

  /// Checks the schema, and reports once if it is newer than this program.
  private func checkSchema(of connection: Connection) throws {
    do {
      try Migrator.checkSchema(of: connection) { [report] newer in
        let message = newer.message.prefix(1).uppercased() + newer.message.dropFirst()
        report(ServerNotice(.warning, message, hint: NewerSchema.hint))
      }
    } catch let error as StoreError {
      let version = try Migrator.version(of: connection)
      if let version, version > Migrator.knownVersion { state.withLock { $0.refusal = error } }
      throw error
    }
  }

  /// The history is not the one that was read, or a part of it is missing.
  private static func notice(
    of error: StoreError, before: HistoryCursor?, after: HistoryCursor?
  ) -> ServerNotice {
    let (before, after) = (before.map { "\($0.token)" }, after.map { "\($0.token)" })
    return ServerNotice(
      .error, "The streams begin anew: \(error.message)",
      detail: [
        error.detail,
        "They had read up to \(before ?? "0"), and continue after \(after ?? "0").",
      ].compactMap { $0 }.joined(separator: " "),
      hint: """
        Find out whether the database was restored, failed over to a server that lacked transactions, or purged; \
        "quake-query verify" walks through its history. Clients get a reset and the present list.
        """)
  }

  private func begin(_ follower: HistoryFollower, over connection: Connection) throws {
    if follower.cursor == nil {
      try restart(follower, over: connection)
    } else {
      try follower.resume()
    }
  }

  /// Begins after the newest transaction. The streams find out which changes each client lacks.
  private func restart(_ follower: HistoryFollower, over connection: Connection) throws {
    let cursor = HistoryCursor(token: try HistoryReader.latestToken(over: connection))
    try follower.begin(after: cursor)
    move(to: cursor)
    mailbox.post(.begin(cursor))
  }

  private func move(to cursor: HistoryCursor) {
    state.withLock { $0.cursor = cursor }
    advanced(cursor.token)
  }

  private func readAndWait(_ following: inout Following, over connection: Connection) throws {
    // Before reading: a commit after the read sends a notification.
    try following.follower.listen()
    while !isStopped.isSet {
      while try !readPage(&following), !isStopped.isSet { waitForClients() }
      note(nil)
      notePolling(following.follower.reasonForPolling)
      following.backoff.reset()
      following.answerTimeout.reset()
      connection.answerTimeout = following.answerTimeout.duration
      if try following.follower.wait(wake: ended.descriptor) == .woken { return }
    }
  }

  /// Lets clients catch up that are far behind and read as fast as they can, but only for a moment: one that
  /// reads slowly may not hold up the others.
  private func waitForClients() {
    let deadline = Deadline(after: .milliseconds(500))
    while pressure.isSet, !deadline.hasPassed, !isStopped.isSet { usleep(2000) }
  }

  /// Reads a page and publishes it.
  ///
  /// - Returns: Whether the end of the history was reached.
  private func readPage(_ following: inout Following) throws -> Bool {
    let follower = following.follower
    guard let before = follower.cursor else { return true }
    let isLive = follower.isAtEnd
    var encoder = following.encoder
    defer {
      // Also after an error: the follower does not hand over again what it has handed over.
      if let page = encoder.finish(after: before, isLive: isLive) {
        move(to: page.after)
        mailbox.post(.page(page))
      }
      following.encoder = encoder
    }
    return try follower.readPage { encoder.append($0) }
  }
}

extension HistoryFollower {
  /// Why it polls although there is no load, in words; nil if it listens.
  fileprivate var reasonForPolling: String? {
    switch session {
    case .standby: "it is a hot standby, which has no notifications"
    case .pooled: "a pooler in transaction mode lets no notifications through"
    case .direct:
      switch pollingReason {
      case .uselessNotifications: "another program sends notifications without end"
      case .fullQueue: "the server's notification queue is full"
      case nil: nil
      }
    }
  }
}
