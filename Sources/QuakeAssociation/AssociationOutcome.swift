/// The effects of an update of the associations.
public struct AssociationOutcome: Sendable, Equatable {
  /// Events that were compared with those of other sources.
  public var compared: Int64 = 0
  /// Events that got an association, or another preferred event.
  public var associated: Int64 = 0
  /// Events that lost their association.
  public var released: Int64 = 0

  /// An outcome with all counts 0.
  public init() {}

  mutating func add(_ part: AssociationOutcome) {
    compared += part.compared
    associated += part.associated
    released += part.released
  }
}
