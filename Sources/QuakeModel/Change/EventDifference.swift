/// What has become of an event from one state of the store to another, whatever happened in between.
public struct EventDifference: Sendable {
  /// Insert, update or delete.
  public let op: ChangeOperation
  /// The event's code.
  public let code: String
  /// Names of the columns in which the two states differ; empty unless it is an update.
  public let changed: [String]
  /// The event as it was; nil for an insert.
  public let old: QuakeRecord?
  /// The event as it has become; nil for a delete.
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
