import QuakeModel

extension Timestamp {
  /// Milliseconds since 1970, as feeds count.
  var milliseconds: Int64 { microseconds / 1000 }
}
