public import QuakeModel

/// The changes of one page of the history: up to some hundreds, in commit order.
///
/// A batch may end within a transaction; the next one then begins within it.
public struct ChangeBatch: Sendable {
  /// The changes that passed the filter, one at least.
  public let changes: [Change]
  /// The cursor after this batch, and after changes that the filter dropped. To resume after the batch,
  /// pass it to `QuakeDatabase.changes(after:filter:)`.
  public let cursor: HistoryCursor
}
