public import QuakeModel

/// The effects that a batch edit would have.
public struct EditPlan: Sendable {
  /// The number of events that it would change.
  public let count: Int64
  /// The first of them, as they are now.
  public let sample: [QuakeRecord]
}
