internal import Postgres

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

/// An event as the association of events sees it.
struct AssociationEvent {
  let code: String
  let source: String
  let longitude: Double
  let latitude: Double
  /// Whether it can be associated: it has an epicentre, is not withdrawn, and nothing but an association
  /// superseded it.
  let isEligible: Bool
  let supersededBy: String?
  /// The preferred event of its association; nil: it has none.
  let associatedWith: String?

  /// Whether the event is superseded because of its association.
  var isSecondary: Bool { supersededBy != nil && supersededBy == associatedWith }
}

/// Events, and all events that are linked with them. The result depends on no other event.
struct AssociationScene {
  private(set) var events: [String: AssociationEvent] = [:]
  private var candidates: [AssociationMatcher.Pair: Double] = [:]
  private var joined: Set<AssociationMatcher.Pair> = []
  private var separated: Set<AssociationMatcher.Pair> = []

  init(
    _ codes: [String], _ settings: AssociationSettings, over connection: Connection
  ) throws(PostgresError) {
    var reader = AssociationLinkReader(settings: settings, connection: connection)
    var known = Set(codes)
    var next = codes
    while !next.isEmpty {
      let codes = next
      next = []
      try reader.read(codes)
      for code in codes {
        if let event = reader.events[code] { events[code] = event }
        for link in reader.links[code] ?? [] {
          switch link.kind {
          case .near(let distance): candidates[link.pair] = distance
          case .joined: joined.insert(link.pair)
          case .separated:
            separated.insert(link.pair)
            continue  // It links no events: both are here if others link them.
          case .associated: break
          }
          for end in [link.pair.code, link.pair.other] where known.insert(end).inserted {
            next.append(end)
          }
        }
      }
    }
  }

  /// The preferred event of each event that is to have an association.
  func preferred(in order: SourceOrder) -> [String: String] {
    let matcher = AssociationMatcher(
      sources: events.filter { $0.value.isEligible }.mapValues(\.source), candidates: candidates,
      joined: joined, separated: separated)
    var preferred: [String: String] = [:]
    for earthquake in matcher.earthquakes() {
      let chosen = order.preferred(of: earthquake.compactMap { events[$0] })
      for code in earthquake { preferred[code] = chosen?.code }
    }
    return preferred
  }
}
