import CIdleMemory
import CommandLine
import EmbeddedPostgres
import Postgres
import QuakeHistory
import QuakeModel
import QuakeSchema
import QuakeTool
import SystemClock

/// The loop: listen, read the history to its end, hand it over, wait for the bell. After a lost
/// connection the same from the start, from where it was.
final class Watcher {
  private let database: DatabaseAccess
  private let diagnostics: Diagnostics
  private let delivery: Delivery
  private let follows: Bool
  /// What the workers are to be asked for, if anything.
  private let refresh: Refresh?

  private var connection: Connection?
  private var listener: ChangeListener?
  private var answerTimeout = shortestAnswerTimeout
  private var knownSession = SessionKind.direct
  private var hasSaidLate = false
  /// Why the listener polls although it could listen, as far as that has been said.
  private var silence: ChangeListener.Silence?
  /// Whether a connection was lost, and another one has not been told of yet.
  private var isBack = false

  /// - Parameters:
  ///   - follows: Whether to go on when everything there is has been handed over.
  ///   - refreshes: Whether to ask the workers to poll their feeds, to begin with.
  init(
    database: DatabaseAccess, diagnostics: Diagnostics, delivery: Delivery, follows: Bool,
    refreshes: Bool = false
  ) {
    refresh = refreshes ? Refresh(diagnostics: diagnostics) : nil
    self.database = database
    self.diagnostics = diagnostics
    self.delivery = delivery
    self.follows = follows
  }

  /// The bell may be lost without a trace; the log is asked anyway this often, which also shows
  /// whether the server is still there.
  private static let safetyPoll = Duration.seconds(5)
  /// How long a server may be silent while it owes an answer. With the poll before it, a dead
  /// connection is found within 15 s. It is doubled when that was too little for a server that is
  /// there and slow.
  private static let shortestAnswerTimeout = Duration.seconds(8)
  private static let longestAnswerTimeout = Duration.seconds(64)

  // MARK: - Connections

  /// Watches until it is told to stop, or is done.
  func run() throws {
    // A wrong address fails at once; a connection that was there once is worth waiting for.
    connection = try database.connect(wake: Signals.wakeDescriptor)
    var backoff = Backoff()
    while true {
      do {
        if let connection {
          return try watch(over: connection)
        }
        connection = try database.reconnect(wake: Signals.wakeDescriptor)
      } catch let error as PostgresError where error.kind == .interrupted {
        return
      } catch let error where Self.isLoss(error) {
        guard delivery.hasBegun else { throw error }
        if (error as? PostgresError)?.kind == .timeout {
          answerTimeout = min(answerTimeout * 2, Self.longestAnswerTimeout)
        }
        let problem = Failure(error)?.message ?? "\(error)"
        if listener != nil || connection != nil && !follows {
          diagnostics.warning(problem, hint: "Trying again until it is back.")
          backoff.reset()
        } else {
          diagnostics.verbose("still no connection: \(problem)")
        }
        (connection, listener) = (nil, nil)
        isBack = true
        _ = Signals.wait(timeout: backoff.next())
        if Signals.stopRequested { return }
      }
    }
  }

  private static func isLoss(_ error: any Error) -> Bool {
    if let error = error as? PostgresError { return error.isTransient }
    if let error = error as? EmbeddedServerError { return error.kind != .configuration }
    return false
  }

  // MARK: - Watching

  /// Watches over one connection until the watch is over.
  private func watch(over connection: Connection) throws {
    connection.answerTimeout = answerTimeout
    try Migrator.checkSchema(of: connection)
    var isOver = false
    while !isOver {
      let session = try SessionKind.of(connection) { () throws(PostgresError) in
        try Connection(database.settings, wake: Signals.wakeDescriptor)
      }
      do {
        let isBack = isBack
        self.isBack = false
        try delivery.begin(over: connection)
        isOver = try follow(over: connection, session, isBack: isBack)
      } catch let error as StoreError
        where error.kind == .token(.future) && session == .standby
      {
        // What the primary has told is still on its way to the standby; a snapshot would be older.
        guard follows else { throw error }
        isOver = waitForStandby(error)
      } catch let error as StoreError where delivery.canReset(after: error) {
        diagnostics.warning(
          error.message, detail: error.detail, hint: "Beginning again with a snapshot.")
        try listener?.pause()
        try delivery.reset(after: error, over: connection)
      }
    }
  }

  /// Hands over what is there and what comes.
  ///
  /// - Returns: Whether the watch is over; otherwise the session is to be looked at again.
  private func follow(
    over connection: Connection, _ session: SessionKind, isBack: Bool
  ) throws -> Bool {
    guard follows else {
      _ = try readToEnd(over: connection)
      return true
    }
    // Listen before reading: what is committed after the last read rings.
    listener = try ChangeListener(connection: connection, session: session)
    say(session, isBack: isBack)
    try refresh?.ask(over: connection)
    var promotionCheck = PeriodicTimer(.seconds(10))
    // Nothing for a second is called idle. Then each wait begins with giving back the memory that the
    // read before it took; what the next one needs comes back in a fraction of a millisecond.
    var isIdle = false
    var place = delivery.place
    while try readToEnd(over: connection) {
      try listener?.hasRead(foundChanges: delivery.place != place)
      place = delivery.place
      saySilence()
      answerTimeout = Self.shortestAnswerTimeout
      connection.answerTimeout = answerTimeout
      // Where nothing rings there is nothing to give up.
      let isCrowded = session == .direct && delivery.isServerCrowded
      if isCrowded {
        try listener?.pause()
      } else if try listenAgain() {
        continue
      }
      try delivery.showLife(over: connection)
      try refresh?.tell(over: connection)
      if isIdle { quake_release_idle_memory() }
      let isShort = !isIdle || refresh?.isPending == true
      let longest = isCrowded ? .zero : isShort ? .seconds(1) : Self.safetyPoll
      let pause = min(longest, delivery.rest)
      switch try listener?.wait(
        for: pause, rest: isCrowded ? delivery.serverRest : .zero, wake: Signals.wakeDescriptor)
      {
      case .ready: isIdle = false
      case .timedOut, nil:
        isIdle = !isCrowded
        if session == .standby, promotionCheck.fireIfDue() { return false }
      case .woken:
        Signals.drainWake()
        if Signals.stopRequested { return true }
      }
    }
    return true
  }

  private func readToEnd(over connection: Connection) throws -> Bool {
    try delivery.readToEnd(over: connection, shouldStop: { Signals.stopRequested })
  }

  // MARK: - Slow consumers

  /// To be called when the output has not moved for a while. The server must not wait for this
  /// connection: neither with the answer to a statement, which would keep its snapshot, nor with
  /// notifications, which it keeps for all listeners until the slowest has had them.
  func outputStalls() {
    // If the connection is lost, whoever uses it next is told.
    _ = try? connection?.finishPrefetch()
    _ = try? listener?.pause()
  }

  /// Listens again after a stall.
  ///
  /// - Returns: Whether it had not been listening: then the history is to be read before waiting.
  private func listenAgain() throws -> Bool {
    let isResumed = try listener?.resume() == true
    saySilence()
    return isResumed
  }

  // MARK: - What is said

  private func say(_ session: SessionKind, isBack: Bool) {
    if isBack {
      diagnostics.warning(
        "connected again; going on after token \(delivery.place?.description ?? "0")")
    }
    defer { knownSession = session }
    guard session != knownSession else { return }
    let pause = ChangeListener.pollInterval.text
    switch session {
    case .direct: diagnostics.note("the server rings for changes again")
    case .standby:
      diagnostics.warning(
        "a hot standby cannot ring for changes (LISTEN): asking for them every \(pause)")
    case .pooled:
      diagnostics.warning(
        """
        behind a pooler that lends sessions for a transaction the server cannot ring for changes \
        (LISTEN): asking for them every \(pause)
        """,
        hint: "Connect to the server itself, or to a pool in session mode, to hear of them at once."
      )
    }
  }

  private func saySilence() {
    guard listener?.silence != silence else { return }
    silence = listener?.silence
    let pause = ChangeListener.pollInterval.text
    switch silence {
    case nil: diagnostics.note("listening for notifications again")
    case .flood:
      diagnostics.warning(
        "notifications come without end and bring no changes: polling every \(pause)",
        hint:
          "Somebody else notifies on channel quake_changes, which any role that may connect can.")
    case .fullQueue:
      diagnostics.warning(
        "the server's notification queue is full, so that commits do not notify: polling every \(pause)",
        hint: "\"quake-admin status\" names the session that keeps the queue full.")
    }
  }

  /// - Returns: Whether the watch is over.
  private func waitForStandby(_ error: StoreError) -> Bool {
    if !hasSaidLate {
      diagnostics.warning(
        error.message, detail: error.detail, hint: "Waiting for the standby to come there.")
      hasSaidLate = true
    }
    _ = Signals.wait(timeout: ChangeListener.pollInterval)
    return Signals.stopRequested
  }
}
