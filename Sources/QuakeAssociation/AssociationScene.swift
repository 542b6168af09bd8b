internal import Postgres

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
