import Basics
import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool

/// The cursor of a named watcher: in the database, and in the witness beside it, which a restore does not take back.
///
/// The witness is written first. So after a crash between the two, it is ahead by what was delivered.
final class NamedCursor {
  /// The transactions that the watcher has delivered, as far as it remembers them.
  let delivered = DeliveredTransactions()
  /// The ways on if the witness has a cursor that is not in this history.
  private(set) var advice: String?

  private let durable: DurableCursor
  private let source: DatabaseSource
  private let place: WitnessPlace
  private let diagnostics: Diagnostics
  private var witness: WitnessFile?
  /// When the cursor in the database was created; nil if there is none.
  private var created: Timestamp?
  /// The cursor that the witness does not have yet.
  private var unwritten: HistoryCursor?
  private var lastWrite: Duration?
  private var hasReported = false

  /// A write takes as long as the disk needs to store it. While there is more history to read, this is how often one
  /// is worth it.
  private static let interval = Duration.milliseconds(200)

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
    let stored = try durable.take(over: connection)
    let origin = try durable.origin(over: connection)
    created = origin.cursor
    witness = try file(of: origin.store)
    // For the first write, if what is kept is older.
    unwritten = stored
    guard let kept = try witness?.load(), created == nil || kept.created == created else {
      return stored
    }
    switch try state(of: kept.cursor.token) {
    // Purged: only the cursor in the database can say what is missing.
    case .expired: return stored
    case nil:
      // The cursor was removed, and not lost with the end of the history: the watcher begins anew.
      guard let stored else { return nil }
      delivered.replace(with: kept.delivered)
      guard stored.isBefore(kept.cursor) else { return stored }
      unwritten = nil
      try durable.move(to: kept.cursor, over: connection)
      return kept.cursor
    default:
      unwritten = nil
      delivered.replace(with: kept.delivered)
      advice = advice(witness?.path ?? "", stored)
      return kept.cursor
    }
  }

  /// What is wrong with a token; nil if it is one of this history.
  private func state(of token: ChangeToken) throws -> StoreError.TokenProblem? {
    do {
      try source.verify(token)
      return nil
    } catch let error as StoreError {
      guard case .token(let problem) = error.kind else { throw error }
      return problem
    }
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

  /// Stores the cursor that the watcher begins at.
  func begin(at cursor: HistoryCursor) throws {
    let connection = try source.connected()
    if created != nil { try write(cursor) }
    try durable.begin(at: cursor, over: connection)
    // It is another one if the database has lost it.
    let made = try durable.origin(over: connection).cursor
    guard made != created else { return }
    created = made
    try write(cursor)
  }

  /// Stores a cursor. Everything up to there must have been handed over.
  func save(_ cursor: HistoryCursor) throws {
    unwritten = cursor
    if source.follower.isAtEnd || isWorthAWrite { try settle() }
    try durable.move(to: cursor, over: try source.connected())
  }

  private var isWorthAWrite: Bool {
    lastWrite.map { MonotonicClock.now() - $0 >= Self.interval } ?? true
  }

  /// Writes what the witness does not have yet.
  func settle() throws {
    if let unwritten { try write(unwritten) }
  }

  /// Records that the watcher is alive although its cursor has not moved.
  func touch() throws { try durable.touch(over: try source.connected()) }

  private func write(_ cursor: HistoryCursor) throws {
    unwritten = nil
    guard let witness, let created else { return }
    do throws(AtomicFile.SystemError) {
      try witness.save(
        Witness(cursor: cursor, created: created, delivered: delivered.last(upTo: cursor)))
      lastWrite = MonotonicClock.now()
    } catch {
      // A folder that was not chosen may be one that this account can only read.
      guard lastWrite == nil, case .stateFolder = place else {
        throw FileError(
          "could not write witness \"\(witness.path)\": \(error)",
          detail: "With --no-witness the watcher does without it.")
      }
      report("could not write \"\(witness.path)\": \(error)")
      self.witness = nil
    }
  }
}

extension HistoryCursor {
  /// Whether it has less of the history than another cursor of the same history.
  fileprivate func isBefore(_ other: HistoryCursor) -> Bool {
    func done(_ cursor: HistoryCursor) -> Int64 { cursor.changes == 0 ? .max : cursor.changes }
    return (token.number, done(self)) < (other.token.number, done(other))
  }
}
