/// What an import did. `seen` is the sum of `inserted`, `updated`, `unchanged`, `rejected` and
/// `duplicate`.
public struct ImportReport: Sendable {
  /// The import's row; nil after a dry run.
  public var id: Int64?
  /// Records in the feed.
  public var seen: Int64 = 0
  /// Events that were new.
  public var inserted: Int64 = 0
  /// Events whose contents differed.
  public var updated: Int64 = 0
  /// Events left untouched.
  public var unchanged: Int64 = 0
  /// Records that could not be taken.
  public var rejected: Int64 = 0
  /// Of the rejected, those that are kept in `quake.import_reject`.
  public var rejectsKept: Int64 = 0
  /// Their bytes.
  package var rejectBytesKept: Int64 = 0
  /// Records whose code came again later in the feed.
  public var duplicate: Int64 = 0
  /// Of the unchanged, those whose row is of a newer snapshot.
  public var stale: Int64 = 0
  /// Events that gave way to another row of the same earthquake.
  public var superseded: Int64 = 0
  /// Events that had been missing often enough to be withdrawn.
  public var withdrawn: Int64 = 0
  /// Events that were superseded or withdrawn, and came back.
  public var restored: Int64 = 0
  /// What was wrong with the snapshot, so that it was set aside; nil: it was applied.
  public var quarantine: QuarantineVerdict?
  /// Bytes of the body after decompression.
  public var bytes: Int64 = 0
  /// Time spent on receiving, decoding and staging.
  public var receiveDuration: Duration = .zero
  /// Time spent on merging.
  public var mergeDuration: Duration = .zero
  /// The (last) transaction that it changed events in; nil: it changed none.
  public var token: ChangeToken?
  /// When the snapshot was generated, as far as is known.
  public var generated: Timestamp?
  /// Whether the whole feed was imported: false if it was told to stop between two batches.
  public var isComplete = false
  /// The first record that was rejected.
  public var firstReject: ImportReject?

  /// A report of nothing done.
  public init() {}

  /// Adds the counts of another report, or of another part.
  public mutating func add(_ batch: ImportReport) {
    seen += batch.seen
    inserted += batch.inserted
    updated += batch.updated
    unchanged += batch.unchanged
    rejected += batch.rejected
    rejectsKept += batch.rejectsKept
    rejectBytesKept += batch.rejectBytesKept
    duplicate += batch.duplicate
    stale += batch.stale
    superseded += batch.superseded
    withdrawn += batch.withdrawn
    restored += batch.restored
    mergeDuration += batch.mergeDuration
    receiveDuration += batch.receiveDuration
    if firstReject == nil { firstReject = batch.firstReject }
  }
}
