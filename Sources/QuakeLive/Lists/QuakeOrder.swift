internal import QuakeModel

/// The order of a list of events. Equal events are ordered by their codes, byte by byte, so that the order of
/// every list is unambiguous.
public enum QuakeOrder: Sendable, CaseIterable {
  /// By origin time, newest first.
  case timeDescending
  /// By origin time, oldest first.
  case timeAscending
  /// By magnitude, largest first; events without one come last.
  case magnitudeDescending
  /// By magnitude, smallest first; events without one come last.
  case magnitudeAscending

  /// An event's sort key: the smaller comes first.
  func key(of quake: QuakeRecord) -> Int64 {
    switch self {
    case .timeDescending: quake.timestamp(.time).map { ~$0.microseconds } ?? .max
    case .timeAscending: quake.timestamp(.time)?.microseconds ?? .max
    case .magnitudeDescending: quake.double(.magnitude).map { ~Self.ordered($0) } ?? .max
    case .magnitudeAscending: quake.double(.magnitude).map { Self.ordered($0) } ?? .max
    }
  }

  /// An integer that sorts as PostgreSQL sorts doubles: the zeros are equal, NaN is the
  /// largest.
  private static func ordered(_ value: Double) -> Int64 {
    let bits = Int64(bitPattern: (value.isNaN ? .nan : value == 0 ? 0 : value).bitPattern)
    // The bits of negative doubles grow with their distance from 0.
    return bits >= 0 ? bits : bits ^ .max
  }
}
