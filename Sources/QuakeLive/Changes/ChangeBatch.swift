public import QuakeModel

/// What one read of the history brought: up to some hundreds of changes, in commit order.
///
/// It may end within a transaction, and the next one begins within it then.
public struct ChangeBatch: Sendable {
  /// The changes that passed the filter, one at least.
  public let changes: [Change]
  /// Where the history has been read to, which is past changes that the filter held back. To go on
  /// after this batch another time, hand it to `QuakeDatabase.changes(after:filter:)`.
  public let place: HistoryCursor
}
