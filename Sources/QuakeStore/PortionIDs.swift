/// What the portions of one source tell of its ids, so that they are settled as if all of it had been
/// looked at together.
struct PortionIDs {
  /// Hashes of the codes.
  private var codes: Set<UInt64> = []
  private var claimed: [ImportPortion.Claim] = []
  /// Records whose code came in an earlier portion.
  private(set) var repeated: Int64 = 0

  /// How many codes there are.
  var count: Int { codes.count }

  /// The ids that events claim and no record has as its code, and by which event.
  var claims: [ImportPortion.Claim] { claimed.filter { !codes.contains($0.id.idKey) } }

  /// Takes note of a portion, and takes its claims over.
  mutating func add(_ portion: ImportPortion) {
    let again = Set(portion.codeKeys.filter { !codes.insert($0).inserted })
    repeated += Int64(again.count)
    // Of the records of one code the last counts, also for what it claims.
    if !again.isEmpty { claimed.removeAll { again.contains($0.code.idKey) } }
    claimed += portion.takeClaims()
  }
}
