/// Finds out which events are the same earthquake: an event belongs to one earthquake, and an earthquake has
/// at most one event of each source, each of which is within the windows of every other. So a chain of events,
/// each near the next one, is not one earthquake.
///
/// The nearest pair comes first. So the result depends on the events alone, not on the order in which they
/// arrived.
struct AssociationMatcher {
  /// Two events of different sources that may be the same earthquake.
  struct Pair: Hashable {
    let code: String
    let other: String

    /// A pair, whichever of the codes comes first.
    init(_ code: String, _ other: String) {
      self.code = min(code, other)
      self.other = max(code, other)
    }
  }

  /// The source of each event that can be associated.
  let sources: [String: String]
  /// The pairs within the windows, with their distance: the sum of the squares of the differences, each in
  /// units of its window.
  let candidates: [Pair: Double]
  /// Pairs that a person has joined.
  let joined: Set<Pair>
  /// Pairs that a person has separated.
  let separated: Set<Pair>

  /// The events of each earthquake that has several, in the order of their codes.
  func earthquakes() -> [[String]] {
    var earthquake: [String: Int] = [:]
    var members: [[String]] = []
    // Events that a person has joined need not be near the others.
    let joinedByHand = Set(joined.flatMap { [$0.code, $0.other] })
    func areNear(_ one: String, _ two: String) -> Bool {
      candidates[Pair(one, two)] != nil || joinedByHand.contains(one) || joinedByHand.contains(two)
    }
    func unite(_ pair: Pair, isByHand: Bool) {
      guard sources[pair.code] != nil, sources[pair.other] != nil else { return }
      let left = earthquake[pair.code].map { members[$0] } ?? [pair.code]
      let right = earthquake[pair.other].map { members[$0] } ?? [pair.other]
      guard !left.contains(pair.other) else { return }
      for one in left {
        for two in right {
          if sources[one] == sources[two] || separated.contains(Pair(one, two)) { return }
          if !isByHand, !areNear(one, two) { return }
        }
      }
      if let place = earthquake[pair.code] { members[place] = [] }
      if let place = earthquake[pair.other] { members[place] = [] }
      for code in left + right { earthquake[code] = members.count }
      members.append((left + right).sorted())
    }
    for pair in joined.sorted(by: Self.precedes) { unite(pair, isByHand: true) }
    let nearest = candidates.sorted { left, right in
      left.value != right.value
        ? left.value < right.value : Self.precedes(left.key, right.key)
    }
    for (pair, _) in nearest { unite(pair, isByHand: false) }
    return members.filter { !$0.isEmpty }
  }

  private static func precedes(_ left: Pair, _ right: Pair) -> Bool {
    (left.code, left.other) < (right.code, right.other)
  }
}
