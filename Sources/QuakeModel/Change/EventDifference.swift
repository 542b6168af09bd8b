/// The net change of an event between two states of the store.
public struct EventDifference: Sendable {
  /// Insert, update or delete.
  public let op: ChangeOperation
  /// The event's code.
  public let code: String
  /// Names of the columns in which the two states differ; empty unless it is an update.
  public let changed: [String]
  /// The event in the earlier state; nil for an insert.
  public let old: QuakeRecord?
  /// The event in the later state; nil for a delete.
  public let new: QuakeRecord?

  /// A difference of the given parts.
  public init(
    op: ChangeOperation, code: String, changed: [String], old: QuakeRecord?, new: QuakeRecord?
  ) {
    self.op = op
    self.code = code
    self.changed = changed
    self.old = old
    self.new = new
  }
}
