import QuakeModel

/// The box and the circle of a query.
struct FDSNArea {
  private var values: [String: Double] = [:]

  /// Degrees of USGS's service: it divides kilometres by this.
  private static let kilometresPerDegree = 111.12
  /// Kilometres of a degree on the sphere of `QuakeFilter.Circle`.
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
    if circle.contains(where: { $0 != nil }), circle.contains(where: { $0 == nil }) {
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
  func add(to filter: inout QuakeFilter) {
    if let degrees = greatestDegrees, let latitude = self["latitude"],
      let longitude = self["longitude"]
    {
      filter.circle = QuakeFilter.Circle(
        radius: degrees * Self.sphereKilometres, latitude: latitude, longitude: longitude,
        innerRadius: leastDegrees * Self.sphereKilometres)
    }
    let edges = ["minlatitude", "maxlatitude", "minlongitude", "maxlongitude"]
    guard edges.contains(where: { self[$0] != nil }) else { return }
    let (west, east) = longitudes
    // Beyond 180 degrees, with only one edge, there is nothing.
    guard (-180...180).contains(west), (-180...180).contains(east) else { return filter.codes = [] }
    filter.boundingBox = QuakeFilter.BoundingBox(
      west: west, south: self["minlatitude"] ?? -90, east: east, north: self["maxlatitude"] ?? 90)
  }

  /// The western and the eastern edge from -180 to 180; over the 180th meridian, west is greater than east.
  private var longitudes: (west: Double, east: Double) {
    let (west, east) = (self["minlongitude"] ?? -180, self["maxlongitude"] ?? 180)
    if east - west >= 360 { return (-180, 180) }
    func turned(_ degrees: Double) -> Double {
      degrees < -180 ? degrees + 360 : degrees > 180 ? degrees - 360 : degrees
    }
    guard self["minlongitude"] != nil, self["maxlongitude"] != nil else { return (west, east) }
    return (turned(west), turned(east))
  }
}
