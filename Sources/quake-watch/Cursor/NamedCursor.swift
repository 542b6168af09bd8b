import Basics
import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool

/// The cursor of a named watcher: in the database, and in the witness beside it, which a restore does not take back.
///
/// Except while the watcher catches up, the witness is written first. So after a crash between the two, it is ahead by
/// what was delivered.
final class NamedCursor: CursorStore {
  let delivered = DeliveredTransactions()
  private(set) var advice: String?

  private let durable: DurableCursor
  private let source: DatabaseSource
  private let place: WitnessPlace
  private let diagnostics: Diagnostics
  private var witness: WitnessKeeper?
  /// When the cursor in the database was created; nil if there is none.
  private var created: Timestamp?
  private var hasReported = false

  init(
    _ name: String, in source: DatabaseSource, witness place: WitnessPlace,
    _ diagnostics: Diagnostics
  ) {
    durable = DurableCursor(name: name)
    self.source = source
    self.place = place
    self.diagnostics = diagnostics
  }

  // MARK: - Resuming

  /// Where to resume; nil if there is no cursor yet.
  ///
  /// If the history lacks what the witness has, this is the cursor of the witness: to begin after it is an error, which
  /// says so.
  func load() throws -> HistoryCursor? {
    let connection = try source.connected()
    guard try !durable.isConsumer(over: connection) else {
      throw StoreError(
        .conflict, "\"\(durable.name)\" is a consumer, and no watcher",
        hint: "Give the watcher another name; \"quake-admin consumers\" lists the consumers.")
    }
    let stored = try durable.take(over: connection)
    let origin = try durable.origin(over: connection)
    created = origin.cursor
    witness = try file(of: origin.store).map { WitnessKeeper($0, delivered) }
    // For the first write, if what is kept is older.
    if let stored, let created { witness?.note(stored, of: created) }
    guard let kept = try witness?.file.load() else { return stored }
    switch try kept.cursor.token.problem(source.verify) {
    // Purged: only the cursor in the database can say what is missing.
    case .expired: return stored
    case nil:
      let isRemoved = origin.removed.map { kept.created <= $0 } ?? false
      return try resume(stored, kept, isRemoved: isRemoved)
    default:
      witness?.drop()
      delivered.replace(with: kept.delivered)
      advice = advice(witness?.file.path ?? "", stored)
      return kept.cursor
    }
  }

  /// Where to resume if the history has what the witness has.
  ///
  /// - Parameter isRemoved: Whether the witness is that of a cursor that was removed from the database.
  private func resume(
    _ stored: HistoryCursor?, _ kept: Witness, isRemoved: Bool
  ) throws -> HistoryCursor? {
    guard let stored, let created else {
      // The cursor was removed, and not lost: the watcher begins anew.
      guard !isRemoved else { return nil }
      delivered.replace(with: kept.delivered)
      try begin(at: kept.cursor)
      diagnostics.warning(
        """
        watcher "\(durable.name)" has no cursor in the database, and none was removed there: continuing after \
        \(kept.cursor.token), as its witness says
        """,
        hint: """
          A restore or a failover has probably lost it. To begin anew, remove the cursor with "quake-admin watchers \
          remove".
          """)
      return kept.cursor
    }
    // The cursor was removed, and made anew without this witness.
    guard kept.created >= created else { return stored }
    delivered.replace(with: kept.delivered)
    guard stored.isBefore(kept.cursor) else { return stored }
    witness?.drop()
    try durable.move(to: kept.cursor, over: try source.connected())
    return kept.cursor
  }

  private func advice(_ path: String, _ stored: HistoryCursor?) -> String {
    let other =
      stored.map { "To continue after the cursor in the database instead, \($0.token)" }
      ?? "To begin anew without a cursor instead"
    return """
      --on-expired snapshot begins again with the present list of events. \(other), remove the witness "\(path)". \
      A watcher that follows a copy of the database needs another name.
      """
  }

  private func file(of store: Timestamp) throws -> WitnessFile? {
    switch place {
    case .none: return nil
    case .file(let path): return WitnessFile(path, of: durable.name)
    case .stateFolder:
      do throws(WitnessPlace.Unusable) {
        return WitnessFile(
          try WitnessPlace.path(of: durable.name, store: store), of: durable.name)
      } catch {
        report(error.reason)
        return nil
      }
    }
  }

  private func report(_ reason: String) {
    guard !hasReported else { return }
    hasReported = true
    diagnostics.note(
      "watcher \"\(durable.name)\" has no witness: \(reason)",
      hint:
        "Name a file with --state, so that the watcher notices what a restored database has lost.")
  }

  // MARK: - Storing

  func begin(at cursor: HistoryCursor) throws {
    let connection = try source.connected()
    if created != nil { try keep(cursor) }
    try durable.begin(at: cursor, over: connection)
    // It is another one if the database has lost it.
    let made = try durable.origin(over: connection).cursor
    guard made != created else { return }
    created = made
    try keep(cursor)
  }

  func confirm(_ cursor: HistoryCursor) throws { try keep(cursor) }

  func save(_ cursor: HistoryCursor) throws {
    try keep(cursor, mayWait: !source.follower.isAtEnd)
    try durable.move(to: cursor, over: try source.connected())
  }

  func writePending() throws {
    guard let witness else { return }
    do {
      try witness.writePending()
    } catch let error as FileError {
      // A folder that was not chosen may be one that this account can only read.
      guard !witness.hasWritten, case .stateFolder = place else { throw error }
      report(error.message)
      self.witness = nil
    }
  }

  func touch() throws { try durable.touch(over: try source.connected()) }

  private func keep(_ cursor: HistoryCursor, mayWait: Bool = false) throws {
    guard let created else { return }
    witness?.note(cursor, of: created)
    if !mayWait || witness?.isDue == true { try writePending() }
  }
}
