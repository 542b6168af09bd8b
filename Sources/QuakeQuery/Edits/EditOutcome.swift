public import QuakeModel

/// The outcome of a batch edit.
public struct EditOutcome: Sendable {
  /// The number of the edit (`quake.edit`); nil: there was nothing to do.
  public internal(set) var edit: Int64?
  /// The events that it was to change.
  public internal(set) var selected: Int64 = 0
  /// The events that this run has changed, with superseded rows that were deleted together with theirs.
  public internal(set) var changed: Int64 = 0
  /// The events that an earlier, interrupted run of the edit had changed.
  public internal(set) var changedBefore: Int64 = 0
  /// Whether all of them are done.
  public internal(set) var isFinished = false
  /// The number of the edit's transactions.
  public internal(set) var transactions: Int64 = 0
  /// The edit's first and last transaction; nil: none.
  public internal(set) var first, last: ChangeToken?
  /// Events that were not restored, because they were changed since.
  public internal(set) var conflicts: [RestoreConflict] = []
  /// The number of these events.
  public internal(set) var conflictCount: Int64 = 0
  /// Deleted events that cannot be restored, because the history of their deletion was purged, with those
  /// whose tombstones were removed instead.
  public internal(set) var lost: Int64 = 0
  /// Events that cannot be restored and whose tombstones were removed, so that feeds may store them again.
  public internal(set) var tombstonesRemoved: Int64 = 0

  /// Nothing was done.
  public init() {}

  /// There was nothing to do.
  package static var nothingToDo: EditOutcome {
    var outcome = EditOutcome()
    outcome.isFinished = true
    return outcome
  }
}
