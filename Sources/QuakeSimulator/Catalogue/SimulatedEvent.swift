enum EventKind: String, Sendable {
  case earthquake
  case quarryBlast = "quarry blast"
  case iceQuake = "ice quake"
  case explosion
  case otherEvent = "other event"

  /// The word after the magnitude in the title; empty for an earthquake.
  var titleWords: String? {
    switch self {
    case .earthquake: nil
    case .quarryBlast: "Quarry Blast"
    case .iceQuake: "Ice Quake"
    case .explosion: "Explosion"
    case .otherEvent: "Other Event"
    }
  }
}

enum ReviewStatus: String, Sendable {
  case automatic, reviewed
}

/// The expected loss, as PAGER gives it.
enum AlertLevel: String, Sendable {
  case green, yellow, orange, red
}

/// The place of an event: its distance from a town, and one of 16 directions.
struct Place: Hashable, Sendable {
  /// km.
  var distance: Int
  /// In sixteenths of a turn from north, clockwise.
  var direction: Int
  /// Index in `SeismicRegion.all`.
  var region: Int
  /// Index in the region's towns.
  var town: Int
  /// Real feeds contain some places with a space at the end.
  var trailingSpace = false

  static let directions = [
    "N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE", "S", "SSW", "SW", "WSW", "W", "WNW", "NW",
    "NNW",
  ]
}

/// One event of the catalogue as it is now.
struct SimulatedEvent: Sendable, Equatable {
  var id: EventIdentifier
  /// The ids of the same event at other networks and its earlier ids, without the preferred one.
  var otherIDs: [EventIdentifier] = []
  /// Milliseconds since 1970.
  var time: Int64
  /// Milliseconds since 1970.
  var updated: Int64
  /// When it appeared in the catalogue: milliseconds since 1970.
  var appeared: Int64
  var magnitude: Double?
  var magnitudeType: String?
  var place: Place
  /// Degrees east.
  var longitude: Double
  /// Degrees north.
  var latitude: Double
  /// km, positive down.
  var depth: Double?
  var felt: Int?
  var cdi: Double?
  var mmi: Double?
  var alert: AlertLevel?
  var status = ReviewStatus.automatic
  var tsunami = false
  var kind = EventKind.earthquake
  var stations: Int?
  /// The distance of the nearest station, degrees.
  var dmin: Double?
  /// Seconds.
  var rms: Double?
  /// The largest angle without a station, degrees.
  var gap: Double?

  /// The significance as USGS computes it: 600 and more is "significant".
  var significance: Int {
    let magnitude = magnitude ?? 0
    var value = magnitude > 0 ? magnitude * 100 * (magnitude / 6.5) : 0
    switch alert {
    case .red: value = max(value, 2000)
    case .orange: value = max(value, 1000)
    case .yellow: value = max(value, 650)
    case .green, nil: break
    }
    if let felt, let cdi { value += Double(min(felt, 1000)) * cdi / 10 }
    return Int(value.rounded())
  }

  /// Events are kept in the order of their time, and of their id where that is equal.
  static func isEarlier(_ left: SimulatedEvent, _ right: SimulatedEvent) -> Bool {
    if left.time != right.time { return left.time < right.time }
    if left.id.network != right.id.network {
      return left.id.network.rawValue < right.id.network.rawValue
    }
    return left.id.code < right.id.code
  }
}
