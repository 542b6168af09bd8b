public import QuakeModel

/// An event that was changed after the transaction that is to be undone.
public struct RestoreConflict: Sendable {
  /// The event.
  public let code: String
  /// The latest of these changes; nil: the table was truncated.
  public let operation: ChangeOperation?
  /// The transaction of that change.
  public let transaction: ChangeToken?
  /// Its author.
  public let author: String?
}
