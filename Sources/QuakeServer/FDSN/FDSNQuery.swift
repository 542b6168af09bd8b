import QuakeFormat
import QuakeModel
import QuakeQuery

/// The parameters of a request to the event service, read and checked as USGS's service does.
struct FDSNQuery {
  /// Which events to include that are deleted or withdrawn.
  enum Deleted {
    case none
    case included
    case only
  }

  var format: FDSNFormat?
  var eventID: String?
  var start: Timestamp?
  var end: Timestamp?
  var area = FDSNArea()
  /// The conditions of all parameters but the times, the area and the catalogue.
  var filter = EventFilter()
  /// The time at which or after which the events have changed in the store, by whatever writer.
  var changedSince: Timestamp?
  var catalog: String?
  var contributor: String?
  var limit: Int?
  var offset = 1
  var order = [EventOrder.newestFirst]
  var statusWithoutData = 204
  var deleted = Deleted.none
  var includesSuperseded = false
  private var includesAll = false

  /// A query that matches more events must have a limit.
  static let mostEvents = 20_000
  /// A query without a start begins this long before now, in microseconds.
  static let defaultAge: Int64 = 30 * 86_400_000_000

  /// Reads the parameters. Empty values are ignored, and of repeated parameters the last one counts.
  ///
  /// - Parameter format: The format that the path names.
  init(_ items: [QueryItem], format: FDSNFormat? = nil) throws(HTTPError) {
    var values: [FDSNValue] = []
    for item in items where !item.value.isEmpty {
      guard let parameter = FDSNParameter.named(item.name) else {
        throw HTTPError(400, "Unknown parameter \"\(item.name)\".")
      }
      values.removeAll { $0.parameter.name == parameter.name }
      values.append(FDSNValue(parameter: parameter, name: item.name, text: item.value))
    }
    for value in values { try read(value) }
    if let format { self.format = format }
    try checkCombinations()
  }

  private mutating func read(_ value: FDSNValue) throws(HTTPError) {
    switch value.parameter.name {
    case "starttime": start = try value.time()
    case "endtime": end = try value.time()
    case "minlatitude", "maxlatitude", "minlongitude", "maxlongitude", "latitude", "longitude",
      "minradius", "maxradius", "minradiuskm", "maxradiuskm":
      try area.read(value)
    case "eventid": eventID = value.text
    case "updatedafter": changedSince = try value.time()
    case "catalog": catalog = value.text
    case "contributor": contributor = value.text
    case "limit": limit = try value.integer()
    case "offset": offset = try value.integer()
    case "orderby": order = try Self.order(value)
    case "format": format = FDSNFormat(rawValue: try value.choice())
    case "nodata": statusWithoutData = try value.choice() == "404" ? 404 : 204
    case "includedeleted":
      deleted = value.text.lowercased() == "only" ? .only : try value.boolean() ? .included : .none
    case "includesuperseded": includesSuperseded = try value.boolean()
    case "includeallorigins", "includeallmagnitudes":
      if try value.boolean() { includesAll = true }
    case "includearrivals":
      if try value.boolean() { throw HTTPError(501, "includearrivals parameter is not supported") }
    case "jsonerror": break
    default: try filter.conditions.append(Self.condition(value))
    }
  }

  private static func order(_ value: FDSNValue) throws(HTTPError) -> [EventOrder] {
    switch try value.choice() {
    case "time-asc": [EventOrder(.time)]
    case "magnitude": [.greatestFirst, .newestFirst]
    case "magnitude-asc": [EventOrder(.magnitude), .newestFirst]
    default: [.newestFirst]
    }
  }

  private static func condition(_ value: FDSNValue) throws(HTTPError) -> EventCondition {
    switch value.parameter.name {
    case "minmagnitude": return .atLeast(.magnitude, try value.double())
    case "maxmagnitude": return .atMost(.magnitude, try value.double())
    case "mindepth": return .atLeast(.depth, try value.double())
    case "maxdepth": return .atMost(.depth, try value.double())
    case "minmmi": return .atLeast(.mmi, try value.double())
    case "maxmmi": return .atMost(.mmi, try value.double())
    case "mincdi": return .atLeast(.cdi, try value.double())
    case "maxcdi": return .atMost(.cdi, try value.double())
    case "mingap": return .atLeast(.gap, try value.double())
    case "maxgap": return .atMost(.gap, try value.double())
    case "minfelt": return .atLeast(.felt, Double(try value.integer()))
    case "minsig": return .atLeast(.sig, Double(try value.integer()))
    case "maxsig": return .atMost(.sig, Double(try value.integer()))
    case "alertlevel": return .text(.alert, isOneOf: [try value.choice()])
    case "magnitudetype": return .text(.magnitudeType, isOneOf: [value.text])
    case "reviewstatus":
      let status = try value.choice()
      return status == "automatic"
        ? .any([.text(.status, isOneOf: [status, ""]), .isMissing(.status)])
        : .text(.status, isOneOf: [status])
    case "eventtype":
      let types = value.text.split(separator: ",").map { String($0.drop { $0 == " " }) }
      let spellings = types.map(EventTypes.spellings)
      let named = EventCondition.text(.type, isOneOf: spellings.joined())
      // Documents call an event without a type an earthquake.
      return spellings.contains { $0.contains("earthquake") }
        ? .any([named, .isMissing(.type)]) : named
    case "producttype":
      let listed = EventCondition.lists(.types, value.text)
      return value.text == "origin" ? .any([listed, .isMissing(.types)]) : listed
    case "productcode":
      return .any([
        .lists(.ids, value.text), .text(.code, isOneOf: [value.text]),
      ])
    default: throw HTTPError(400, "Unknown parameter \"\(value.name)\".")
    }
  }

  private func checkCombinations() throws(HTTPError) {
    try area.check()
    let format = format ?? .quakeml
    if includesAll, !format.isQuakeML {
      throw HTTPError(
        400,
        "Cannot use includeallorigins or includeallmagnitudes parameters when format is not quakeml or xml."
      )
    }
    if format != .geojson {
      if deleted != .none, format != .csv {
        throw HTTPError(400, "Cannot use includedeleted parameter unless format is geojson or csv.")
      }
      if includesSuperseded {
        throw HTTPError(400, "Cannot use includesuperseded parameter unless format is geojson.")
      }
    }
    if eventID == nil, includesSuperseded {
      throw HTTPError(400, "Cannot use includesuperseded parameter without eventid parameter.")
    }
    if deleted != .none, includesSuperseded {
      throw HTTPError(
        400, "Cannot use includedeleted and includesuperseded parameters at same time.")
    }
  }
}

extension FDSNQuery {
  /// The query of the events at a moment, without the limit.
  ///
  /// Only events with an epicentre count: no format of the service can show others.
  func events(now: Timestamp) -> EventQuery {
    var query = EventQuery()
    query.filter = filter
    query.filter.earliestTime =
      start ?? Timestamp(microseconds: now.microseconds - Self.defaultAge)
    // The end is a part of the range, as in all services of this kind.
    query.filter.endTime = end.flatMap {
      $0 < .latest ? Timestamp(microseconds: $0.microseconds + 1) : nil
    }
    query.filter.conditions.append(.isPresent(.longitude))
    area.add(to: &query.filter)
    if let catalog { query.filter.conditions.append(Self.isIn(catalog: catalog)) }
    if let contributor { query.filter.conditions.append(Self.isOf(contributor: contributor)) }
    include(deleted, in: &query)
    query.changedSince = changedSince
    query.order = order
    return query
  }

  private func include(_ deleted: Deleted, in query: inout EventQuery) {
    switch deleted {
    case .none: break
    case .included: query.past = .deleted
    case .only:
      query.past = .deleted
      query.filter.conditions.append(.isPresent(.withdrawnAt))
    }
  }

  /// The query of the event with a code, whatever its state.
  static func event(_ code: String) -> EventQuery {
    var query = EventQuery()
    query.filter.codes = [code]
    query.filter.conditions = [.isPresent(.longitude)]
    query.past = .deleted
    return query
  }

  /// A catalogue is a network or a source of the store, and holds all events to which it contributed.
  static func isIn(catalog: String) -> EventCondition {
    .any([isOf(contributor: catalog), .text(.source, isOneOf: [catalog])])
  }

  static func isOf(contributor: String) -> EventCondition {
    .any([.text(.net, isOneOf: [contributor]), .lists(.sources, contributor)])
  }
}

/// The box and the circle of a query.
struct FDSNArea {
  private var values: [String: Double] = [:]

  /// Degrees of USGS's service: it divides kilometres by this.
  private static let kilometresPerDegree = 111.12
  /// Kilometres of a degree on the sphere of `EventFilter.Circle`.
  private static let sphereKilometres = 6371.0088 * Double.pi / 180

  mutating func read(_ value: FDSNValue) throws(HTTPError) {
    values[value.parameter.name] = try value.double()
  }

  private subscript(name: String) -> Double? { values[name] }

  /// Checks the combinations, in the words of USGS's service.
  func check() throws(HTTPError) {
    for end in ["min", "max"] where self["\(end)radiuskm"] != nil {
      if let degrees = self["\(end)radius"], end == "max" || degrees != 0 {
        throw HTTPError(
          400,
          "Invalid area-circle parameter combination.\n\(end)radius and \(end)radiuskm can not both be specified."
        )
      }
    }
    let circle = [self["latitude"], self["longitude"], greatestDegrees]
    // USGS's service leaves out a least radius without the others, and answers with all events.
    let isCircle = leastDegrees > 0 || circle.contains { $0 != nil }
    if isCircle, circle.contains(where: { $0 == nil }) {
      throw HTTPError(
        400,
        "Invalid area-circle parameter combination.\nlatitude, longitude, and maxradius must all be specified for area-circle."
      )
    }
    if let least = self["minlatitude"], let greatest = self["maxlatitude"], least > greatest {
      throw HTTPError(400, "minlatitude must be less than maxlatitude")
    }
    let (west, east) = (self["minlongitude"], self["maxlongitude"])
    if let west, let east {
      if west > east { throw HTTPError(400, "minlongitude must be less than maxlongitude") }
      if east - west > 360 {
        throw HTTPError(400, "Searches cannot span more than 360 degrees of longitude.")
      }
    } else if west.map({ $0 < -180 }) ?? false || east.map({ $0 > 180 }) ?? false {
      throw HTTPError(
        400, "Searches that cross dateline require both minlongitude and maxlongitude.")
    }
  }

  private var leastDegrees: Double {
    self["minradiuskm"].map { $0 / Self.kilometresPerDegree } ?? self["minradius"] ?? 0
  }

  private var greatestDegrees: Double? {
    self["maxradiuskm"].map { $0 / Self.kilometresPerDegree } ?? self["maxradius"]
  }

  /// Adds the area to a filter.
  func add(to filter: inout EventFilter) {
    if let degrees = greatestDegrees, let latitude = self["latitude"],
      let longitude = self["longitude"]
    {
      filter.circle = EventFilter.Circle(
        radius: degrees * Self.sphereKilometres, latitude: latitude, longitude: longitude,
        innerRadius: leastDegrees * Self.sphereKilometres)
    }
    let edges = ["minlatitude", "maxlatitude", "minlongitude", "maxlongitude"]
    guard edges.contains(where: { self[$0] != nil }) else { return }
    let (west, east) = longitudes
    // Beyond 180 degrees, with only one edge, there is nothing.
    guard (-180...180).contains(west), (-180...180).contains(east) else { return filter.codes = [] }
    filter.boundingBox = EventFilter.BoundingBox(
      west: west, south: self["minlatitude"] ?? -90, east: east, north: self["maxlatitude"] ?? 90)
  }

  /// The western and the eastern edge from -180 to 180; over the 180th meridian, west is greater than east.
  private var longitudes: (west: Double, east: Double) {
    let (west, east) = (self["minlongitude"] ?? -180, self["maxlongitude"] ?? 180)
    if east - west >= 360 { return (-180, 180) }
    func turned(_ degrees: Double) -> Double {
      guard abs(degrees) > 180 else { return degrees }
      // 255.64 - 360 is a little less than -104.36 in binary, and edges belong to the box.
      let other = degrees < 0 ? degrees + 360 : degrees - 360
      return (other * 1e9).rounded() / 1e9
    }
    guard self["minlongitude"] != nil, self["maxlongitude"] != nil else { return (west, east) }
    return (turned(west), turned(east))
  }
}
