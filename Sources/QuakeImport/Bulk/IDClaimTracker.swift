internal import QuakeModel

/// What the ids of a source's records tell while they are read, so that the database need not be asked,
/// and those in one portion are settled as if all had been looked at together.
struct IDClaimTracker {
  /// Of longer sources not all is remembered.
  private static let most = 65_536

  /// Hashes of the codes.
  private var codes: Set<UInt64> = []
  private var claimed: [IDClaim] = []
  /// Whether all records have been looked at.
  private var isComplete = true
  /// Records whose code had come before: in the source, or in an earlier portion.
  private(set) var repeated: Int64 = 0

  /// Whether a code may have come more than once.
  var mayHaveDuplicates: Bool { !isComplete || repeated > 0 }

  /// Whether it holds as much as a feed has.
  var isFull: Bool { codes.count >= Importer.longestFeed || claimed.count >= Self.most }

  /// The ids that events claim and no record has as its code.
  var claims: [IDClaim] { claimed.filter { !codes.contains($0.id.idKey) } }

  /// Takes note of a record.
  mutating func add(_ record: QuakeRecord) {
    guard isComplete else { return }
    guard codes.count < Self.most, claimed.count < Self.most else {
      self = IDClaimTracker()
      isComplete = false
      return
    }
    record.withUTF8(.code) { code in
      if let code, !codes.insert(code.idKey).inserted { repeated += 1 }
    }
    record.forEachOtherID { id in
      claimed.append(
        IDClaim(id: String(decoding: id, as: UTF8.self), code: record.text(.code) ?? ""))
    }
  }

  /// Takes note of a portion, and takes its claims over.
  mutating func add(_ portion: RecordBatch) {
    let again = Set(portion.codeKeys.filter { !codes.insert($0).inserted })
    repeated += Int64(again.count)
    // Of the records of one code the last counts, also for what it claims.
    if !again.isEmpty { claimed.removeAll { again.contains($0.code.idKey) } }
    claimed += portion.takeClaims()
  }
}
