/// Conditions on how a change affects the selection of events, or how far an update moves their values.
///
/// A change has to meet one of the conditions that are set. If none is set, every change passes.
public struct ChangeConditions: Hashable, Sendable {
  /// The event came into the selection that the filter's conditions on events describe: it was inserted, an
  /// update made it meet the conditions, or it is back after it was withdrawn or superseded.
  public var enters = false
  /// The event left the selection: it was deleted, withdrawn or superseded, or an update made it miss the
  /// conditions. A truncate counts as well.
  public var leaves = false
  /// An update changed the magnitude by at least this, or from or to unknown.
  public var magnitudeChange: Double?
  /// An update changed the depth by at least this many kilometres, or from or to unknown.
  public var depthChange: Double?
  /// An update moved the epicentre by at least this many kilometres, or from or to unknown.
  public var placeChange: Double?

  /// No conditions.
  public init() {}

  var isEmpty: Bool { self == ChangeConditions() }

  /// Decimal numbers such as 5.9 and 6.2 differ by a little less than 0.3 as binary numbers. Nothing that is
  /// measured is as exact as this.
  package static let tolerance = 1e-9

  /// Whether the values of an update differ as much as one of the limits asks.
  func areIn(_ old: QuakeRecord, _ new: QuakeRecord) -> Bool {
    Self.differ(old.double(.magnitude), new.double(.magnitude), magnitudeChange)
      || Self.differ(old.double(.depth), new.double(.depth), depthChange) || isMoved(old, new)
  }

  private static func differ(_ old: Double?, _ new: Double?, _ least: Double?) -> Bool {
    guard let least, old != new else { return false }
    guard let old, let new else { return true }
    return abs(new - old) >= least - tolerance
  }

  private func isMoved(_ old: QuakeRecord, _ new: QuakeRecord) -> Bool {
    guard let least = placeChange,
      old.double(.latitude) != new.double(.latitude)
        || old.double(.longitude) != new.double(.longitude)
    else { return false }
    guard let distance = GreatCircle.distance(old, new) else {
      // Two unknown epicentres that differ in one coordinate are no move.
      return Self.hasEpicentre(old) || Self.hasEpicentre(new)
    }
    return distance >= least - Self.tolerance
  }

  private static func hasEpicentre(_ event: QuakeRecord) -> Bool {
    event.has(.latitude) && event.has(.longitude)
  }
}
