/// A version of one event: what a change made of it.
public struct EventVersion: Sendable {
  /// The transaction that made it.
  public let transaction: ChangeTransaction
  /// Which of the transaction's changes it is, from 0; nil where others of them have been purged.
  public let position: Int64?
  /// What was done.
  public let op: ChangeOperation
  /// The event's code.
  public let code: String
  /// Names of the columns that an update changed; empty otherwise.
  public let changed: [String]
  /// The event before; nil if it was not there, or the version before has been purged.
  public let old: QuakeRecord?
  /// The event after; nil if it is not there any more.
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
