internal import QuakeModel

/// Tracks the codes and the claimed ids of a source while it is read. So the database need not be asked
/// about them, and claims are resolved as if all records had been read at once.
struct IDClaimTracker {
  /// The most ids that are kept in memory.
  private static let most = 65_536

  /// Hashes of the codes.
  private var codes: Set<UInt64> = []
  /// Those whose last record says that the event was deleted, so that another event may have the id.
  private var deleted: Set<UInt64> = []
  private var claimed: [IDClaim] = []
  /// Whether the ids of all records are in memory.
  private var isComplete = true
  /// The number of records whose code occurred before: in the source, or in an earlier batch.
  private(set) var repeated: Int64 = 0

  /// Whether a record says that its event was deleted.
  private(set) var hasDeletions = false

  /// Whether a code may have occurred more than once. The database is also asked if there are deletions: the
  /// last record of a code may be one, and it claims no ids.
  var mayHaveDuplicates: Bool { !isComplete || repeated > 0 || hasDeletions }

  /// Whether it holds the ids of a feed of the greatest length.
  var isFull: Bool { codes.count >= ImportPlan.longestFeed || claimed.count >= Self.most }

  /// Claims of ids that no record has as its code, except those of events that were deleted.
  var claims: [IDClaim] {
    claimed.filter {
      let key = $0.id.idKey
      return !codes.contains(key) || deleted.contains(key)
    }
  }

  /// Adds the ids of a record.
  mutating func add(_ record: EventRecord) {
    guard !record.isDeletion else { return hasDeletions = true }
    guard isComplete else { return }
    guard codes.count < Self.most, claimed.count < Self.most else {
      codes = []
      claimed = []
      repeated = 0
      isComplete = false
      return
    }
    record.withUTF8(.code) { code in
      if let code, !codes.insert(code.idKey).inserted { repeated += 1 }
    }
    record.forEachOtherID { id in
      claimed.append(
        IDClaim(id: String(decoding: id, as: UTF8.self), code: record.code ?? ""))
    }
  }

  /// Adds the ids of a batch, and removes its claims from the batch.
  mutating func add(_ batch: RecordBatch) {
    var again: Set<UInt64> = []
    for (key, isDeletion) in batch.codeKeys {
      if !codes.insert(key).inserted { again.insert(key) }
      if isDeletion {
        deleted.insert(key)
      } else if !deleted.isEmpty {
        deleted.remove(key)
      }
    }
    repeated += Int64(again.count)
    // The last record of a code wins, also with its claims.
    if !again.isEmpty { claimed.removeAll { again.contains($0.code.idKey) } }
    claimed += batch.takeClaims()
  }
}
