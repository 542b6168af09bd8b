import QuakeModel

/// A query of the FDSN event service, limited to the parameters that a feed reader needs.
struct SimulatorQuery: Sendable {
  /// The error of a query, in the words of the service.
  struct Refusal: Error {
    var reason: String
  }

  /// A query may not match more events than this.
  static let maximumCount = 20_000

  var format: SimulatedFormat?
  /// Milliseconds since 1970.
  var start: Int64
  /// Milliseconds since 1970.
  var end: Int64
  var minimumMagnitude: Double?
  /// Degrees north, and degrees east.
  var latitudes = -90.0...90
  var longitudes = -180.0...180
  /// A point and the greatest distance from it in degrees; nil: anywhere.
  var circle: (latitude: Double, longitude: Double, degrees: Double)?
  var limit: Int?
  var earliestFirst = false

  /// Reads a query; without a start it begins 30 days before `now` (milliseconds).
  init(
    _ arguments: [Request.Argument], now: Int64, maximumCount: Int = Self.maximumCount
  ) throws(Refusal) {
    start = now - 30 * 86_400_000
    end = .max
    var latitude: Double?
    var longitude: Double?
    var radius: Double?
    var (south, north, west, east) = (-90.0, 90.0, -180.0, 180.0)
    for argument in arguments {
      let value = argument.value
      switch argument.name {
      case "format":
        guard let known = SimulatedFormat(rawValue: value) else {
          throw Refusal(
            reason: "Bad format value \"\(value)\". Valid values are: geojson, text.")
        }
        format = known
      case "starttime": start = try Self.time(argument)
      case "endtime": end = try Self.time(argument)
      case "minmagnitude": minimumMagnitude = try Self.number(argument)
      case "minlatitude": south = try Self.number(argument)
      case "maxlatitude": north = try Self.number(argument)
      case "minlongitude": west = try Self.number(argument)
      case "maxlongitude": east = try Self.number(argument)
      case "latitude": latitude = try Self.number(argument)
      case "longitude": longitude = try Self.number(argument)
      case "maxradius": radius = try Self.number(argument)
      case "limit":
        limit = try Self.integer(argument, in: 1...maximumCount)
      case "orderby":
        guard value == "time" || value == "time-asc" else {
          throw Refusal(reason: "Bad orderby value \"\(value)\". Valid values are: time, time-asc.")
        }
        earliestFirst = value == "time-asc"
      default:
        throw Refusal(reason: "Unknown parameter \"\(argument.name)\".")
      }
    }
    guard south <= north, west <= east else {
      throw Refusal(reason: "The minimum of a latitude or longitude is greater than its maximum.")
    }
    latitudes = south...north
    longitudes = west...east
    if let latitude, let longitude, let radius { circle = (latitude, longitude, radius) }
  }

  private func covers(_ event: SimulatedEvent) -> Bool {
    guard latitudes.contains(event.latitude), longitudes.contains(event.longitude) else {
      return false
    }
    guard let circle else { return true }
    let kilometres = GreatCircle.distance(
      latitude: circle.latitude, longitude: circle.longitude, toLatitude: event.latitude,
      longitude: event.longitude)
    return kilometres <= circle.degrees * 111.12
  }

  private static func time(_ argument: Request.Argument) throws(Refusal) -> Int64 {
    guard let time = Timestamp(iso8601: argument.value) else {
      throw Refusal(
        reason: "Bad \(argument.name) value \"\(argument.value)\". Valid values are ISO-8601"
          + " timestamps.")
    }
    return time.milliseconds
  }

  private static func number(_ argument: Request.Argument) throws(Refusal) -> Double {
    guard let number = Double(argument.value), number.isFinite else {
      throw Refusal(reason: "Bad \(argument.name) value \"\(argument.value)\".")
    }
    return number
  }

  private static func integer(
    _ argument: Request.Argument, in range: ClosedRange<Int>
  ) throws(Refusal) -> Int {
    guard let number = Int(argument.value), range.contains(number) else {
      throw Refusal(reason: "Bad \(argument.name) value \"\(argument.value)\".")
    }
    return number
  }

  /// All events that match, in the order asked for, whatever the limit is.
  func matches(in events: [SimulatedEvent]) -> [SimulatedEvent] {
    let matching = events.filter { event in
      guard event.time >= start, event.time <= end, covers(event) else { return false }
      if let minimumMagnitude, (event.magnitude ?? -.infinity) < minimumMagnitude { return false }
      return true
    }
    return earliestFirst ? matching : matching.reversed()
  }

  /// The part of the matching events that the limit leaves.
  func page(of matching: [SimulatedEvent]) -> [SimulatedEvent] {
    Array(matching.prefix(limit ?? matching.count))
  }
}
