import CommandLine
import QuakeClient
import QuakeHistory
import QuakeModel
import QuakeTool

/// The cursor of a named watcher that follows a server: in a witness, and on the server, if that keeps consumers for
/// this client.
///
/// The witness is written first. The server's cursor counts, because an operator may have moved it: what was delivered
/// after it is delivered again. The witness notices what a restored database has lost.
final class ServerCursor: CursorStore {
  let delivered = DeliveredTransactions()
  private let witness: WitnessKeeper
  private let follower: ServerFollower
  private let diagnostics: Diagnostics
  /// The consumer; nil if the server keeps none for this client.
  private var consumer: ServerConsumer?
  /// Whether this process has taken it.
  private var hasTaken = false
  /// What the server has, and what it is to get.
  private var acknowledged: HistoryCursor?
  private var pending: HistoryCursor?
  /// What a file has that belongs to a cursor in a database.
  private var created = Timestamp(microseconds: 0)

  /// The server tells the consumer of earthquakes, and keeps its place by itself.
  struct IsOfAlerts: Error {}

  init(
    _ name: String, of follower: ServerFollower, witness place: WitnessPlace,
    _ diagnostics: Diagnostics
  ) throws {
    self.follower = follower
    self.diagnostics = diagnostics
    consumer = follower.consumer(named: name)
    let path: String
    do throws(WitnessPlace.Unusable) {
      path =
        switch place {
        case .file(let path): path
        case .none, .stateFolder: try WitnessPlace.path(of: name, source: follower.server)
        }
    } catch {
      throw FileError(
        "cannot keep the cursor of watcher \"\(name)\": \(error.reason)",
        detail: "--state names a file for it.")
    }
    witness = WitnessKeeper(WitnessFile(path, of: name), delivered)
  }

  /// Where to resume; nil if there is no cursor yet.
  func load() throws -> HistoryCursor? {
    let kept = try witness.file.load()
    if let kept {
      delivered.replace(with: kept.delivered)
      created = kept.created
    }
    switch try consumer?.offer() {
    case .alerts: throw IsOfAlerts()
    case nil, .some(.none):
      consumer = nil
      diagnostics.verbose("the server keeps no cursor for this watcher: it is in the witness alone")
      return kept?.cursor
    case .cursor(nil):
      if let kept, try !kept.cursor.token.isLost(follower.verify) {
        try take(beginningAt: kept.cursor)
      }
      return kept?.cursor
    case .cursor(let stored?):
      let cursor = try take(beginningAt: stored)
      // To begin after a cursor that the history lacks is an error, which names what was lost.
      if let kept, try kept.cursor.token.isLost(follower.verify) { return kept.cursor }
      return cursor
    }
  }

  @discardableResult
  private func take(beginningAt cursor: HistoryCursor) throws -> HistoryCursor {
    guard let taken = try consumer?.take(beginningAt: cursor) else { return cursor }
    (hasTaken, acknowledged) = (true, taken)
    // Before each connection, so that a paused watcher does not go on, nor one that was replaced.
    follower.willOpen = { [consumer] in try consumer?.acknowledge(nil) }
    return taken
  }

  func begin(at cursor: HistoryCursor) throws {
    witness.note(cursor, of: created)
    try witness.writePending()
    if !hasTaken { try take(beginningAt: cursor) }
    pending = cursor
    try acknowledgePending()
  }

  func confirm(_ cursor: HistoryCursor) throws {
    witness.note(cursor, of: created)
    try witness.writePending()
  }

  func save(_ cursor: HistoryCursor) throws {
    witness.note(cursor, of: created)
    pending = cursor
    if follower.hasReachedEnd || witness.isDue { try writePending() }
  }

  func writePending() throws {
    try witness.writePending()
    try acknowledgePending()
  }

  private func acknowledgePending() throws {
    guard let cursor = pending, hasTaken else { return }
    if cursor != acknowledged { try consumer?.acknowledge(cursor) }
    (acknowledged, pending) = (cursor, nil)
  }

  func touch() throws {
    guard pending == nil else { return try acknowledgePending() }
    if hasTaken { try consumer?.acknowledge(nil) }
  }
}
