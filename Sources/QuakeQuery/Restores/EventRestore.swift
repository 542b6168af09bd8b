public import QuakeModel

/// Undoes transactions or batch edits, or restores deleted events.
public struct EventRestore: Sendable {
  /// The transactions or the edit to undo, or the events to restore.
  public enum Source: Sendable {
    /// The events as they were before these transactions: inserted events are deleted, updated columns get
    /// their old values, deleted events their rows.
    case transactions([ChangeToken])
    /// The events as they were before all transactions of an edit.
    case edit(Int64)
    /// Deleted events, as they were when they were deleted.
    case events(EventSelection)
  }

  /// The transactions or the edit to undo, or the events to restore.
  public var source: Source
  /// Whether later changes of the same events and columns are overwritten. An event whose deletion was purged
  /// from the history then loses its tombstone, so that the next snapshot that has it stores it anew.
  public var isForced: Bool
  /// The author.
  public var author: EditAuthor
  /// See `EventEdit.title`.
  public var title: String?

  /// A restore.
  public init(
    _ source: Source, isForced: Bool = false, by author: EditAuthor, title: String? = nil
  ) {
    self.source = source
    self.isForced = isForced
    self.author = author
    self.title = title
  }
}
