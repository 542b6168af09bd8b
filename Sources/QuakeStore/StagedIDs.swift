internal import QuakeModel

/// What the ids of a feed's records tell while they are staged, so that the database need not be asked.
struct StagedIDs {
  /// Of longer feeds it is not known.
  private static let most = 65_536

  private var keys: Set<UInt64> = []
  private var others: [ImportPortion.Claim] = []
  /// Whether all records have been looked at.
  private var isComplete = true
  private var isRepeated = false

  /// Whether a code may have come more than once.
  var mayHaveDuplicates: Bool { !isComplete || isRepeated }

  /// The ids that events claim and no record has as its code, and by which event; nil: not known.
  var claims: [ImportPortion.Claim]? {
    mayHaveDuplicates ? nil : others.filter { !keys.contains($0.id.idKey) }
  }

  /// Takes note of a record.
  mutating func add(_ record: QuakeRecord) {
    guard isComplete else { return }
    guard keys.count < Self.most, others.count < Self.most else {
      self = StagedIDs()
      isComplete = false
      return
    }
    record.withUTF8(.code) { code in
      if let code, !keys.insert(code.idKey).inserted { isRepeated = true }
    }
    record.forEachOtherID { id in
      others.append((String(decoding: id, as: UTF8.self), record.text(.code) ?? ""))
    }
  }
}
