package import QuakeModel

extension JSONWriter {
  /// Writes a point of GeoJSON (RFC 7946).
  ///
  /// - Parameters:
  ///   - longitude: In degrees.
  ///   - latitude: In degrees.
  ///   - third: The third coordinate in kilometres: a depth, or a height in formats that have heights. Nil: the
  ///     point has two coordinates, because a position cannot contain null.
  package mutating func point(_ longitude: Double, _ latitude: Double, _ third: Double?) {
    beginObject()
    key("type")
    string("Point")
    key("coordinates")
    beginArray()
    double(longitude)
    double(latitude)
    if let third { double(third) }
    endArray()
    endObject()
  }
}
