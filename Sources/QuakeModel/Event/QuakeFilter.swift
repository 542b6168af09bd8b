internal import Glibc

/// A selection of changes. Every condition that is set must hold.
///
/// The conditions on the event hold for a change if the event met them before or after it, so that a
/// reader also learns that an event has left its selection. A truncate concerns every event and
/// passes them all.
public struct QuakeFilter: Sendable {
  /// A box on the map. Its west edge may lie east of its east edge: then it crosses the 180th
  /// meridian.
  public struct BoundingBox: Sendable {
    /// Degrees east, -180 to 180.
    public var west, east: Double
    /// Degrees north, -90 to 90.
    public var south, north: Double

    /// The box between four edges, in degrees; nil if one is out of range or south is north of north.
    public init?(west: Double, south: Double, east: Double, north: Double) {
      guard (-180...180).contains(west), (-180...180).contains(east),
        (-90...90).contains(south), (-90...90).contains(north), south <= north
      else { return nil }
      self.west = west
      self.south = south
      self.east = east
      self.north = north
    }

    func contains(longitude: Double, latitude: Double) -> Bool {
      guard latitude >= south, latitude <= north else { return false }
      return west <= east
        ? longitude >= west && longitude <= east : longitude >= west || longitude <= east
    }
  }

  /// A circle on the ground.
  public struct Circle: Sendable {
    /// Radius in kilometres.
    public var radius: Double
    /// Centre, degrees north and east.
    public var latitude, longitude: Double

    /// The circle around a point; nil if its coordinates are out of range or the radius is negative.
    public init?(radius: Double, latitude: Double, longitude: Double) {
      guard radius >= 0, radius.isFinite, (-90...90).contains(latitude),
        (-180...180).contains(longitude)
      else { return nil }
      self.radius = radius
      self.latitude = latitude
      self.longitude = longitude
    }

    /// Great-circle distance by the haversine formula on a sphere of 6,371.0088 km, the Earth's mean
    /// radius; within 0.6 % of the distance on the ellipsoid.
    func contains(longitude: Double, latitude: Double) -> Bool {
      let radians = Double.pi / 180
      let halfLatitude = sin((latitude - self.latitude) * radians / 2)
      let halfLongitude = sin((longitude - self.longitude) * radians / 2)
      let chord =
        halfLatitude * halfLatitude
        + cos(self.latitude * radians) * cos(latitude * radians) * halfLongitude * halfLongitude
      return 2 * 6371.0088 * asin(min(1, chord.squareRoot())) <= radius
    }
  }

  /// The event's code must be one of these.
  public var codes: Set<String>?
  /// The magnitude must be at least this; events without one do not pass.
  public var minimumMagnitude: Double?
  /// The operation must be one of these.
  public var operations: Set<ChangeOperation>?
  /// The event's type must be one of these.
  public var types: Set<String>?
  /// The epicentre must lie in the box.
  public var boundingBox: BoundingBox?
  /// The epicentre must lie in the circle.
  public var circle: Circle?
  /// The transaction's author must be one of these.
  public var authors: Set<String>?
  /// The transaction's author must be none of these; no author passes.
  public var excludedAuthors: Set<String> = []
  /// The transaction's context must be one of these.
  public var contexts: Set<String>?
  /// The `application_name` of the writing session must be one of these.
  public var applications: Set<String>?
  /// The change must be an update of one of these columns.
  public var changedColumns: Set<String>?

  /// A filter that everything passes.
  public init() {}

  /// Whether an event passes the conditions on events.
  public func accepts(_ record: QuakeRecord) -> Bool {
    if let codes {
      guard let code = record.text(.code), codes.contains(code) else { return false }
    }
    if let minimumMagnitude {
      guard let magnitude = record.double(.magnitude), magnitude >= minimumMagnitude else {
        return false
      }
    }
    if let types {
      guard let type = record.text(.type), types.contains(type) else { return false }
    }
    if boundingBox != nil || circle != nil {
      guard let longitude = record.double(.longitude), let latitude = record.double(.latitude)
      else { return false }
      if let boundingBox, !boundingBox.contains(longitude: longitude, latitude: latitude) {
        return false
      }
      if let circle, !circle.contains(longitude: longitude, latitude: latitude) { return false }
    }
    return true
  }

  /// Whether a transaction passes the conditions on author, context and application.
  func accepts(_ transaction: ChangeTransaction) -> Bool {
    func isAmong(_ wanted: Set<String>?, _ value: String?) -> Bool {
      guard let wanted else { return true }
      return value.map(wanted.contains) ?? false
    }
    return isAmong(authors, transaction.author) && isAmong(contexts, transaction.context)
      && isAmong(applications, transaction.application)
      && !(transaction.author.map(excludedAuthors.contains) ?? false)
  }

  /// Whether a change passes.
  public func accepts(_ change: Change) -> Bool {
    if let operations, !operations.contains(change.op) { return false }
    guard accepts(change.transaction) else { return false }
    if let changedColumns {
      guard change.changed.contains(where: { changedColumns.contains($0) }) else { return false }
    }
    if change.op == .truncate { return true }
    return change.new.map(accepts) ?? false || change.old.map(accepts) ?? false
  }
}
