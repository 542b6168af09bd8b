import Postgres
import QuakeHistory
import QuakeModel
import QuakeTool
import SystemClock

/// Reads the history and hands it over: what is wanted of it, how far it has come, and where that is
/// kept.
final class Delivery {
  /// Where to begin.
  enum Start {
    case now
    case after(ChangeToken)
    /// After what was committed by then.
    case since(Timestamp)
    case snapshot
  }

  /// What is wanted.
  struct Settings {
    var start = Start.now
    var filter = QuakeFilter()
    /// After how many changes to end.
    var limit: Int64?
    /// With which transaction to end.
    var upTo: ChangeToken?
    /// How often to say how far it has come.
    var heartbeat: Duration?
    /// Whether a snapshot takes the place of a history that cannot be had.
    var resetsToSnapshot = false
  }

  private let settings: Settings
  private let bookmark: CursorStore
  private let handler: any ChangeHandler

  private var reader: HistoryReader?
  /// The place that was last asked for.
  private var wanted = HistoryCursor(token: .beginning)
  private var handled: Int64 = 0
  private var hasReset = false
  /// Whether a snapshot has begun and not come to its end.
  private var isSnapshotCut = false
  private var heartbeat: PeriodicTimer?
  private var lifeSign = PeriodicTimer(.seconds(30))

  init(settings: Settings, bookmark: CursorStore, handler: any ChangeHandler) {
    self.settings = settings
    self.bookmark = bookmark
    self.handler = handler
    heartbeat = settings.heartbeat.map { PeriodicTimer($0) }
  }

  /// How far it has come; nil before it has begun, or while the snapshot that it begins with is under
  /// way.
  var place: HistoryCursor? { reader?.place }

  /// Whether anything has been handed over, or could have been.
  var hasBegun: Bool { reader != nil || isSnapshotCut }

  // MARK: - Beginning

  /// Begins, or goes on over another connection from where it was.
  func begin(over connection: Connection) throws {
    if let reader {
      wanted = reader.place
      self.reader = try HistoryReader(connection: connection, continuing: reader)
    } else if let place = try bookmark.load(over: connection) {
      wanted = place
      try checkEnd(from: place, over: connection)
      reader = try HistoryReader(connection: connection, after: place)
    } else {
      try checkEnd(from: nil, over: connection)
      switch settings.start {
      case .now:
        // "From now" is a place in the history too, and is kept as one from the beginning.
        try begin(after: try HistoryReader.latestToken(over: connection), connection)
      case .after(let token):
        try begin(after: token, connection)
      case .since(let time):
        try begin(after: try HistoryBound.time(time).resolve(over: connection), connection)
      case .snapshot:
        try begin(after: try handOverFirstSnapshot(over: connection), connection)
      }
    }
  }

  /// An end that is not of this history would never come. No snapshot could help there.
  private func checkEnd(from place: HistoryCursor?, over connection: Connection) throws {
    guard let upTo = settings.upTo, !(place.map(isEnd) ?? false) else { return }
    do {
      _ = try HistoryBound.token(upTo).resolve(over: connection)
    } catch let error as StoreError {
      throw StoreError(
        .badData, error.message, detail: error.detail,
        hint: "--up-to needs a token of this history.")
    }
  }

  private func begin(after token: ChangeToken, _ connection: Connection) throws {
    wanted = HistoryCursor(token: token)
    reader = try HistoryReader(connection: connection, after: token)
    try bookmark.begin(at: wanted, over: connection)
  }

  /// Whether a snapshot may take the place of what `error` says cannot be had: once, because a second
  /// time would be the beginning of a loop.
  func canReset(after error: StoreError) -> Bool {
    guard settings.resetsToSnapshot, !hasReset, case .token(let problem) = error.kind else {
      return false
    }
    return problem != .malformed
  }

  /// Says that the history cannot be had, and begins again with a snapshot.
  func reset(after error: StoreError, over connection: Connection) throws {
    guard case .token(let problem) = error.kind else { throw error }
    let lost = wanted.token
    let token = try handOverSnapshot(over: connection) { [handler] token in
      try handler.handle(reset: problem.rawValue, after: lost, token: token)
    }
    hasReset = true
    try begin(after: token, connection)
  }

  /// The snapshot that the watch begins with. One that the connection was lost in is begun again, and
  /// what was handed over of it is to be forgotten.
  private func handOverFirstSnapshot(over connection: Connection) throws -> ChangeToken {
    let isAgain = isSnapshotCut
    return try handOverSnapshot(over: connection) { [handler] token in
      if isAgain {
        try handler.handle(reset: "interrupted", after: .beginning, token: token)
      }
    }
  }

  /// To be called when nothing listens: a listener inside a transaction pins the server's notification
  /// queue.
  private func handOverSnapshot(
    over connection: Connection, announce: (ChangeToken) throws -> Void
  ) throws -> ChangeToken {
    isSnapshotCut = true
    var token = ChangeToken.beginning
    var position: Int64 = 0
    try Snapshot.read(
      over: connection,
      begin: {
        token = $0
        try announce(token)
      }
    ) { record in
      guard settings.filter.accepts(record) else { return }
      try handler.handle(snapshot: record, token: token, position: position)
      position += 1
    }
    _ = try handler.flush(at: HistoryCursor(token: token))
    isSnapshotCut = false
    return token
  }

  // MARK: - Going on

  /// Reads and hands over what there is; false if that was all that is wanted.
  ///
  /// - Throws: `HandOverStopped`, its place being kept, if who takes the changes does not go on.
  func readToEnd(over connection: Connection, shouldStop: () -> Bool) throws -> Bool {
    do {
      return try handOverToEnd(over: connection, shouldStop: shouldStop)
    } catch var stop as HandOverStopped {
      // Whatever becomes of the place, what was not handed over must not be passed over.
      do {
        if let place = stop.place { try bookmark.save(place, over: connection) }
      } catch {
        stop.placeError = error
      }
      throw stop
    }
  }

  private func handOverToEnd(over connection: Connection, shouldStop: () -> Bool) throws -> Bool {
    guard var reader, !isEndReached else { return false }
    defer { self.reader = reader }
    while true {
      let before = reader.place
      wanted = before
      let isAtEnd: Bool
      do {
        isAtEnd = try reader.readPage { change in
          if let upTo = settings.upTo, change.transaction.token.number > upTo.number {
            throw LimitReached()
          }
          guard settings.filter.accepts(change) else { return }
          if isLimitReached, handler.openTransaction != change.transaction.token {
            throw LimitReached()
          }
          try handler.handle(change)
          handled += 1
        }
      } catch is LimitReached {
        try handOver(reader, since: before, over: connection)
        return false
      }
      try handOver(reader, since: before, over: connection)
      if handler.openTransaction == nil,
        isLimitReached || isEnd(reader.place) || shouldStop()
      {
        return false
      }
      if isAtEnd { return true }
    }
  }

  private struct LimitReached: Error {}

  private var isEndReached: Bool { reader.map { isEnd($0.place) } ?? false }

  /// Whether the transaction to end with has been handed over whole.
  private func isEnd(_ place: HistoryCursor) -> Bool {
    guard let upTo = settings.upTo else { return false }
    return place.token.number > upTo.number || place.token == upTo && place.changes == 0
  }

  private var isLimitReached: Bool { settings.limit.map { handled >= $0 } ?? false }

  /// The place is kept only when what lies before it has left this process.
  private func handOver(
    _ reader: HistoryReader, since before: HistoryCursor, over connection: Connection
  ) throws {
    if reader.place.changes == 0, heartbeat?.fireIfDue() == true {
      try handler.handle(heartbeat: reader.place.token, at: .now())
    }
    guard let place = try handler.flush(at: reader.place), place != before else { return }
    try bookmark.save(place, over: connection)
  }

  /// How long the server should be left alone now.
  var serverRest: Duration { reader?.rest ?? .zero }

  /// Whether to ask the server at intervals instead of having it ring.
  var isServerCrowded: Bool { reader?.isCrowded ?? false }

  /// How long nothing need be done if nothing is committed.
  var rest: Duration { min(heartbeat?.remaining ?? .seconds(30), lifeSign.remaining) }

  /// Does what is due although nothing was committed.
  func showLife(over connection: Connection) throws {
    if lifeSign.fireIfDue() { try bookmark.touch(over: connection) }
    guard let place, place.changes == 0, heartbeat?.fireIfDue() == true else { return }
    try handler.handle(heartbeat: place.token, at: .now())
    _ = try handler.flush(at: place)
  }
}
