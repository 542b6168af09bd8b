/// A version of one event: the event as it was after a change.
public struct EventVersion: Sendable {
  /// The transaction that made it.
  public let transaction: ChangeTransaction
  /// Its position in the transaction, from 0; nil if other changes of the transaction have been purged.
  public let position: Int64?
  /// The operation.
  public let op: ChangeOperation
  /// The event's code.
  public let code: String
  /// Names of the columns that an update changed; empty otherwise.
  public let changed: [String]
  /// The event before the change; nil if it did not exist, or its earlier version has been purged.
  public let old: QuakeRecord?
  /// The event after the change; nil if it was deleted.
  public let new: QuakeRecord?

  /// A version of the given parts.
  public init(
    transaction: ChangeTransaction, position: Int64?, op: ChangeOperation, code: String,
    changed: [String], old: QuakeRecord?, new: QuakeRecord?
  ) {
    self.transaction = transaction
    self.position = position
    self.op = op
    self.code = code
    self.changed = changed
    self.old = old
    self.new = new
  }
}
