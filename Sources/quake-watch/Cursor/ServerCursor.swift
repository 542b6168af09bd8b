import QuakeClient
import QuakeHistory
import QuakeModel
import QuakeTool

/// The cursor of a named watcher that follows a server: in a witness alone, because there is no database to keep it.
final class ServerCursor {
  /// The transactions that the watcher has delivered, as far as it remembers them.
  let delivered = DeliveredTransactions()
  private let witness: WitnessKeeper
  private let follower: ServerFollower
  /// What a file has that belongs to a cursor in a database.
  private var created = Timestamp(microseconds: 0)

  init(_ name: String, of follower: ServerFollower, witness place: WitnessPlace) throws {
    self.follower = follower
    let path: String
    do throws(WitnessPlace.Unusable) {
      path =
        switch place {
        case .file(let path): path
        case .none, .stateFolder: try WitnessPlace.path(of: name, server: follower.server)
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
    guard let kept = try witness.file.load() else { return nil }
    delivered.replace(with: kept.delivered)
    created = kept.created
    return kept.cursor
  }

  /// Stores the cursor that the watcher begins at.
  func begin(at cursor: HistoryCursor) throws {
    witness.note(cursor, of: created)
    try witness.writePending()
  }

  /// Stores a cursor. Everything up to there must have been handed over.
  func save(_ cursor: HistoryCursor) throws {
    witness.note(cursor, of: created)
    if follower.hasReachedEnd || witness.isDue { try witness.writePending() }
  }

  /// Writes what the witness does not have yet.
  func writePending() throws { try witness.writePending() }
}
