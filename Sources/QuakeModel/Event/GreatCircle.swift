internal import Glibc

package enum GreatCircle {
  /// The distance between two points in kilometres, from their degrees north and east.
  ///
  /// By the haversine formula on a sphere of 6,371.0088 km, the Earth's mean radius; within 0.6 % of the
  /// distance on the ellipsoid.
  package static func distance(
    latitude: Double, longitude: Double, toLatitude: Double, longitude toLongitude: Double
  ) -> Double {
    let radians = Double.pi / 180
    let (latitude, toLatitude) = (whole(latitude), whole(toLatitude))
    let (longitude, toLongitude) = (whole(longitude), whole(toLongitude))
    let halfLatitude = sin((toLatitude - latitude) * radians / 2)
    let halfLongitude = sin((toLongitude - longitude) * radians / 2)
    let chord =
      halfLatitude * halfLatitude
      + cos(latitude * radians) * cos(toLatitude * radians) * halfLongitude * halfLongitude
    return 2 * 6371.0088 * asin(min(1, chord.squareRoot()))
  }

  /// A coordinate in units of about 1e-16 degrees, a hundredth of a nanometre. PostgreSQL refuses a product of
  /// smaller numbers (underflow), so that one event with a coordinate of 1e-200 would make every query fail.
  private static func whole(_ degrees: Double) -> Double { (degrees + 1) - 1 }

  /// The distance between the epicentres of two events; nil if one has none.
  package static func distance(_ first: EventRecord, _ second: EventRecord) -> Double? {
    guard let latitude = first.latitude, let longitude = first.longitude,
      let toLatitude = second.latitude, let toLongitude = second.longitude
    else { return nil }
    return distance(
      latitude: latitude, longitude: longitude, toLatitude: toLatitude, longitude: toLongitude)
  }
}
