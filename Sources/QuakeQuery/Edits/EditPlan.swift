public import QuakeModel

/// What a batch edit would do.
public struct EditPlan: Sendable {
  /// The number of events that it would change.
  public let count: Int64
  /// The first of them, as they are now.
  public let sample: [QuakeRecord]
}
