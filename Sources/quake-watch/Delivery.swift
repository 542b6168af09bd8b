import Basics
import QuakeHistory
import QuakeModel

/// Hands the followed history over: it decides where to begin and when to end, filters the changes, and
/// stores the cursor.
final class Delivery {
  /// Where to begin.
  enum Start {
    case now
    case after(ChangeToken)
    /// After the last commit by that time.
    case since(Timestamp)
    /// With the oldest change that is still held.
    case oldest
    case snapshot
  }

  struct Settings {
    var start = Start.now
    var filter = EventFilter()
    /// After how many changes to end.
    var limit: Int64?
    /// With which transaction, or after which time, to end.
    var end: HistoryBound?
    /// How often to print a heartbeat.
    var heartbeat: Duration?
    /// Whether to begin again with a snapshot if the history is not available.
    var resetsToSnapshot = false
    /// Limits how many changes are handed over in a time.
    var gate: RateGate?
  }

  private let settings: Settings
  private let cursorStore: any CursorStore
  private let handler: any ChangeHandler
  private let source: any ChangeSource
  private let delivered: DeliveredTransactions

  /// The cursor that is stored; nil if there is none, or not that of this history. After a connection is lost, it tells
  /// what is still to be stored.
  private var stored: HistoryCursor?
  /// The cursor after which the history was last requested.
  private var requested = HistoryCursor(token: .beginning)
  private var handled: Int64 = 0
  private var hasReset = false
  /// The transactions that were delivered and are not in this history any more.
  private var lost: [ChangeToken] = []
  /// Whether the watch resumed at a stored cursor.
  private var hasLoadedCursor = false
  /// Whether a snapshot has begun and has not been completed.
  private var isSnapshotCut = false
  private var heartbeat: PeriodicTimer?
  private var signOfLife = PeriodicTimer(.seconds(30))

  init(
    settings: Settings, cursorStore: any CursorStore, handler: any ChangeHandler,
    source: any ChangeSource
  ) {
    self.source = source
    self.settings = settings
    self.cursorStore = cursorStore
    self.handler = handler
    delivered = cursorStore.delivered
    heartbeat = settings.heartbeat.map { PeriodicTimer($0) }
  }

  /// Whether anything has been handed over, or could have been.
  var hasBegun: Bool { source.cursor != nil || isSnapshotCut }

  // MARK: - Beginning

  /// Begins, or resumes at its cursor over another connection.
  func begin() throws {
    if let cursor = source.cursor {
      requested = cursor
      try source.resume()
      if stored == nil { try storeFirst(cursor) }
    } else if let cursor = try cursorStore.load() {
      requested = cursor
      try checkEnd(from: cursor)
      hasLoadedCursor = true
      try source.begin(after: cursor)
      try cursorStore.confirm(cursor)
      stored = cursor
    } else {
      try checkEnd(from: nil)
      switch settings.start {
      case .now:
        // "From now" is a cursor too, and is stored from the beginning.
        try begin(after: try source.newestCursor())
      case .after(let token):
        try begin(after: HistoryCursor(token: token))
      case .since(let time):
        try begin(after: HistoryCursor(token: try source.token(at: time)))
      case .oldest:
        try begin(after: HistoryCursor(token: try source.oldestToken()))
      case .snapshot:
        try begin(after: HistoryCursor(token: try handOverFirstSnapshot()))
      }
    }
  }

  /// Fails if the history cannot reach the token at which to end. A snapshot would not help.
  private func checkEnd(from cursor: HistoryCursor?) throws {
    guard case .token(let upTo) = settings.end, !(cursor.map(isEnd) ?? false) else { return }
    do {
      try source.verify(upTo)
    } catch let error as StoreError {
      throw StoreError(
        .badData, error.message, detail: error.detail,
        hint: "--up-to needs a token of this history.")
    }
  }

  private func begin(after cursor: HistoryCursor) throws {
    requested = cursor
    stored = nil
    try source.begin(after: cursor)
    try storeFirst(cursor)
  }

  private func storeFirst(_ cursor: HistoryCursor) throws {
    try cursorStore.begin(at: cursor)
    stored = cursor
  }

  /// An error about a token with what it means for this watch: which transactions were delivered and are lost, and the
  /// ways on from where it began.
  func explained(_ error: StoreError) throws -> StoreError {
    lost = []
    switch error.kind {
    case .token(.expired): return explained(expired: error)
    case .token(.diverged), .token(.future): break
    default: return error
    }
    lost = try delivered.lost { try $0.isLost(source.verify) }
    func sentences(_ first: String?, _ second: String?) -> String? {
      let both = [first, second].compactMap { $0 }.joined(separator: " ")
      return both.isEmpty ? nil : both
    }
    return StoreError(
      error.kind, error.message, detail: sentences(error.detail, lossText),
      hint: sentences(error.hint, cursorStore.advice))
  }

  private var lossText: String? {
    guard !lost.isEmpty else { return nil }
    let tokens = lost.map { "\($0)" }.joined(separator: ", ")
    let text =
      lost.count == 1
      ? "Transaction \(tokens), which this watcher has delivered, is not in this history any more."
      : "Transactions \(tokens), which this watcher has delivered, are not in this history any more."
    // Those before are not remembered.
    return lost.count < DeliveredTransactions.mostKept
      ? text : text + " Transactions before these may be lost, too."
  }

  /// Beside a stored cursor, options that name a beginning do not count.
  private func explained(expired error: StoreError) -> StoreError {
    guard hasLoadedCursor else { return error }
    return StoreError(
      error.kind, error.message, detail: error.detail,
      hint: """
        The cursor is older than the history. --on-expired snapshot begins again with the present list of \
        events; without the cursor, --from-oldest begins with the oldest change that is still held.
        """)
  }

  /// Whether to begin again with a snapshot because of `error`: once, because a second time could be the
  /// beginning of a loop.
  func canReset(after error: StoreError) -> Bool {
    guard settings.resetsToSnapshot, !hasReset, case .token(let problem) = error.kind else {
      return false
    }
    return problem != .malformed
  }

  /// Reports that the history is not available, and begins again with a snapshot.
  func reset(after error: StoreError) throws {
    guard case .token(let problem) = error.kind else { throw error }
    let (after, lost) = (requested.token, lost)
    let token = try handOverSnapshot { [handler] token in
      try handler.handle(reset: problem.rawValue, after: after, lost: lost, token: token)
    }
    hasReset = true
    delivered.replace(with: [])
    try begin(after: HistoryCursor(token: token))
  }

  /// Hands over the snapshot that the watch begins with. If the connection is lost meanwhile the snapshot
  /// begins again, and the consumer is told to forget its first part.
  private func handOverFirstSnapshot() throws -> ChangeToken {
    let isRepeated = isSnapshotCut
    return try handOverSnapshot { [handler] token in
      if isRepeated {
        try handler.handle(reset: "interrupted", after: .beginning, lost: [], token: token)
      }
    }
  }

  private func handOverSnapshot(
    announce: (ChangeToken) throws -> Void
  ) throws -> ChangeToken {
    isSnapshotCut = true
    var token = ChangeToken.beginning
    var position: Int64 = 0
    try source.readSnapshot(
      begin: {
        token = $0
        try announce(token)
      }
    ) { record in
      guard settings.filter.accepts(record, at: .now()), admits(record, token) else { return }
      try handler.handle(snapshot: record, token: token, position: position)
      position += 1
    }
    _ = try handler.flush(at: HistoryCursor(token: token))
    isSnapshotCut = false
    return token
  }

  // MARK: - Continuing

  /// Reads the history to its end and hands it over; false if the watch is complete.
  ///
  /// - Throws: `HandOverStopped` if the handler stops; its cursor has been stored.
  func readToEnd(shouldStop: () -> Bool) throws -> Bool {
    do {
      let isIncomplete = try handOverToEnd(shouldStop: shouldStop)
      try cursorStore.writePending()
      return isIncomplete
    } catch var stop as HandOverStopped {
      // Even if the cursor cannot be stored: the next watch must not skip changes.
      do {
        if let cursor = stop.cursor { try cursorStore.save(cursor) }
        try cursorStore.writePending()
      } catch {
        stop.cursorError = error
      }
      throw stop
    } catch {
      // The connection may be lost for good.
      try cursorStore.writePending()
      throw error
    }
  }

  private func handOverToEnd(shouldStop: () -> Bool) throws -> Bool {
    guard let start = source.cursor else { return false }
    // Its cursor may not be stored, if the connection was lost.
    guard !isEnd(start) else {
      _ = try flushAndStore()
      return false
    }
    while true {
      requested = source.cursor ?? start
      // If the end time is over before the page is read, the read finds everything committed by then.
      let isOver = isEndTimeOver
      let isAtEnd: Bool
      do {
        isAtEnd = try source.readPage { change in
          if isBeyondEnd(change.transaction) { throw LimitReached() }
          guard settings.filter.accepts(change), handler.shows(change) else { return }
          if isLimitReached, handler.openTransaction != change.transaction.token {
            throw LimitReached()
          }
          guard admits(change.new ?? change.old, change.transaction.token) else { return }
          try handler.handle(change)
          delivered.add(change.transaction.token)
          handled += 1
        }
      } catch is LimitReached {
        _ = try flushAndStore()
        return false
      }
      let isComplete = try flushAndStore()
      if handler.openTransaction == nil, isLimitReached || isComplete || shouldStop() {
        return false
      }
      if isAtEnd { return !isOver }
    }
  }

  /// Whether the limit of the rate lets a change pass.
  private func admits(_ event: EventRecord?, _ token: ChangeToken) -> Bool {
    guard let gate = settings.gate else { return true }
    guard gate.admits(event, of: handler.takesTransactions ? token : nil) else { return false }
    let count = gate.takeHeldBack()
    if count > 0 { handler.tell(heldBack: count) }
    return true
  }

  private struct LimitReached: Error {}

  /// Whether the transaction to end with has been handed over whole.
  private func isEnd(_ cursor: HistoryCursor) -> Bool {
    switch settings.end {
    // Everything that is held comes later.
    case .oldest: true
    case .number(let number):
      cursor.token.number > number || cursor.token.number == number && cursor.changes == 0
    case .token(let upTo):
      cursor.token.number > upTo.number || cursor.token == upTo && cursor.changes == 0
    default: false
    }
  }

  private func isBeyondEnd(_ transaction: ChangeTransaction) -> Bool {
    switch settings.end {
    case .oldest: true
    case .token(let upTo): transaction.token.number > upTo.number
    case .number(let number): transaction.token.number > number
    case .time(let time): transaction.at > time
    default: false
    }
  }

  /// Whether no further transaction can be one that was committed by the time to end at.
  private var isEndTimeOver: Bool {
    guard case .time(let time) = settings.end else { return false }
    return Timestamp.now() > time
  }

  /// How long until the time to end at.
  private var timeToEnd: Duration {
    guard case .time(let time) = settings.end else { return .seconds(30) }
    let left = time.microseconds.subtractingReportingOverflow(Timestamp.now().microseconds)
    return left.overflow ? .seconds(30) : .microseconds(max(0, left.partialValue) + 1000)
  }

  private var isLimitReached: Bool { settings.limit.map { handled >= $0 } ?? false }

  /// Flushes the handler. The cursor is stored only when the changes before it have left this process.
  ///
  /// - Returns: Whether the transaction to end with has been read whole.
  private func flushAndStore() throws -> Bool {
    guard let cursor = source.cursor else { return false }
    if cursor.changes == 0, heartbeat?.fireIfDue() == true {
      try handler.handle(heartbeat: cursor.token, at: .now())
    }
    if let flushed = try handler.flush(at: cursor), flushed != stored {
      try cursorStore.save(flushed)
      stored = flushed
    }
    return isEnd(cursor)
  }

  /// How long until `showLife` has something to do, or the watch ends.
  var timeToSignOfLife: Duration {
    min(
      heartbeat?.remaining ?? .seconds(30), signOfLife.remaining, timeToEnd,
      settings.gate?.timeToReport ?? .seconds(30))
  }

  /// Prints a heartbeat, tells the database that the watcher runs, and reports what the limit of the rate held
  /// back, if they are due although nothing was committed. Ends the watch if the reader of the output has ended.
  func showLife() throws {
    try handler.checkReader()
    if signOfLife.fireIfDue() { try cursorStore.touch() }
    settings.gate?.reportIfDue()
    guard let cursor = source.cursor, cursor.changes == 0, heartbeat?.fireIfDue() == true else {
      return
    }
    try handler.handle(heartbeat: cursor.token, at: .now())
    _ = try handler.flush(at: cursor)
  }
}
