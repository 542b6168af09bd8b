internal import Postgres

/// Reads events and what links them with others, each once.
///
/// A swarm can be a chain of thousands of events, each near the next one in time. Following one link a round
/// would take too many rounds. So after some rounds the reader also reads the neighbours in time in advance, and
/// doubles their number each round, up to a limit.
struct AssociationLinkReader {
  /// A link between two events.
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
      let around = try connection.execute(
        AssociationStatements.around, [.array(missing), .integer(Int64(ahead))])
      let isMissing = Set(missing)
      for row in 0..<around.rowCount {
        guard let code = around.text(row, 0), links[code] == nil, !isMissing.contains(code) else {
          continue
        }
        missing.append(code)
      }
      ahead = min(Self.mostAhead, ahead * 2)
    }
    for code in missing { links[code] = [] }
    try readEvents(missing)
    try readLinks(missing)
  }

  private mutating func readEvents(_ codes: [String]) throws(PostgresError) {
    let rows = try connection.execute(
      AssociationStatements.events, [.array(codes)], format: .binary)
    for row in 0..<rows.rowCount {
      let code = rows.text(row, 0) ?? ""
      events[code] = AssociationEvent(
        code: code, source: rows.text(row, 1) ?? "", longitude: rows.binaryDouble(row, 2) ?? 0,
        latitude: rows.binaryDouble(row, 3) ?? 0, isEligible: rows.binaryBool(row, 4) ?? false,
        supersededBy: rows.text(row, 5), associatedWith: rows.text(row, 6))
    }
  }

  private mutating func readLinks(_ codes: [String]) throws(PostgresError) {
    let rows = try connection.execute(
      AssociationStatements.links, [.array(codes)] + settings.parameters, format: .binary)
    for row in 0..<rows.rowCount {
      guard let code = rows.text(row, 1), let other = rows.text(row, 2) else { continue }
      let kind: Link.Kind
      switch rows.text(row, 0) {
      case "near": kind = .near(rows.binaryDouble(row, 3) ?? 0)
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
