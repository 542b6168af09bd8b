/// The effects that a restore would have.
public struct RestorePlan: Sendable {
  /// Events that would be inserted again.
  public internal(set) var inserted: Int64 = 0
  /// Events that would get old values.
  public internal(set) var updated: Int64 = 0
  /// Events that would be deleted, because their insertion is undone.
  public internal(set) var deleted: Int64 = 0
  /// Events that are already as they were.
  public internal(set) var unchanged: Int64 = 0
  /// The first events that were changed since.
  public internal(set) var conflicts: [RestoreConflict] = []
  /// The number of events that were changed since.
  public internal(set) var conflictCount: Int64 = 0
  /// Deleted events that cannot be restored, because the history of their deletion was purged.
  public internal(set) var lost: Int64 = 0
  /// The codes of the first events that would change.
  public internal(set) var sample: [String] = []

  /// The events that would change, without those that were changed since.
  public var count: Int64 { inserted + updated + deleted }
}
