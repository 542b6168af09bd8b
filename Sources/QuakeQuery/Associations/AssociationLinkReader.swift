internal import Postgres

/// Reads events and what links them with others, each once.
///
/// A swarm can be a chain of thousands of events, each near the next one in time. Following one link a round
/// would take too many rounds. So after some rounds the reader also reads the neighbours in time in advance, and
/// doubles their number each round, up to a limit.
struct AssociationLinkReader {
  struct Link {
    enum Kind {
      /// They are within the windows; the distance of the pair.
      case near(Double)
      /// A person has joined or separated them.
      case joined, separated
      /// They are associated now.
      case associated
    }

    let kind: Kind
    let pair: AssociationMatcher.Pair
  }

  /// The events that have been read.
  private(set) var events: [String: AssociationEvent] = [:]
  /// The links of each event that has been read.
  private(set) var links: [String: [Link]] = [:]
  private let settings: AssociationSettings
  private let connection: Connection
  /// How often the database was asked.
  private(set) var rounds = 0
  private var ahead = 64

  /// After this number of rounds, events are read in advance.
  private static let roundsOfFew = 8
  /// The most events that are read in advance together.
  private static let mostAhead = 8192

  init(settings: AssociationSettings, connection: Connection) {
    self.settings = settings
    self.connection = connection
  }

  /// Reads those of the events that have not been read.
  mutating func read(_ codes: [String]) throws(PostgresError) {
    var missing = codes.filter { links[$0] == nil }
    guard !missing.isEmpty else { return }
    rounds += 1
    if rounds > Self.roundsOfFew {
      let around = try connection.rows(
        AssociationStatements.around(missing, atMost: ahead), as: String.self)
      let isMissing = Set(missing)
      missing += around.filter { links[$0] == nil && !isMissing.contains($0) }
      ahead = min(Self.mostAhead, ahead * 2)
    }
    for code in missing { links[code] = [] }
    try readEvents(missing)
    try readLinks(missing)
  }

  private mutating func readEvents(_ codes: [String]) throws(PostgresError) {
    let rows = try connection.rows(
      AssociationStatements.events(codes), format: .binary,
      as: (String, String, Double, Double, Bool, String?, String?).self)
    for (code, source, longitude, latitude, isEligible, successor, preferred) in rows {
      events[code] = AssociationEvent(
        code: code, source: source, longitude: longitude, latitude: latitude,
        isEligible: isEligible, supersededBy: successor, associatedWith: preferred)
    }
  }

  private mutating func readLinks(_ codes: [String]) throws(PostgresError) {
    let rows = try connection.rows(
      AssociationStatements.links(of: codes, settings), format: .binary,
      as: (String, String, String, Double?).self)
    for (name, code, other, distance) in rows {
      let kind: Link.Kind
      switch name {
      case "near": kind = .near(distance ?? 0)
      case "joined": kind = .joined
      case "separated": kind = .separated
      default: kind = .associated
      }
      // A link of two events that are both read comes twice, which does no harm.
      let link = Link(kind: kind, pair: AssociationMatcher.Pair(code, other))
      for end in [code, other] { links[end]?.append(link) }
    }
  }
}
