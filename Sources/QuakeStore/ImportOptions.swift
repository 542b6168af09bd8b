public import QuakeModel

/// What happens to an event that the store already has, with other contents.
public enum MergePolicy: String, CaseIterable, Sendable {
  /// The incoming one wins, unless the stored one is of a newer snapshot.
  case incoming
  /// The incoming one wins, however old it is.
  case always
  /// The stored one stays.
  case store
  /// The import fails, and nothing of it stays.
  case error
}

/// How an import is done, and what its row in `quake.import` says of it.
public struct ImportOptions: Sendable {
  /// The URL (without a password), path or `-` that is read.
  public var source: String
  /// Short name of the feed.
  public var feed: String
  /// Name and version of the program.
  public var program: String
  /// Author of the change in the history.
  public var author: String
  /// Context of the change in the history; by default the feed's name.
  public var context: String?
  /// Status of the HTTP answer.
  public var httpStatus: Int?
  /// ETag of the HTTP answer.
  public var etag: String?
  /// Last-Modified of the HTTP answer, as it was given.
  public var lastModified: String?
  /// When the snapshot was generated, if it does not say so itself; nil: unknown. A snapshot of unknown
  /// age overwrites any other, and any other overwrites it.
  public var generated: Timestamp?
  /// Commit after each so many records; nil: all or nothing.
  public var commitEvery: Int?
  /// What happens to events that the store already has.
  public var policy = MergePolicy.incoming
  /// What a snapshot of the feed should hold; nil: nobody knows.
  public var scope: FeedScope?
  /// How bad a snapshot may be and still be applied; a worse one goes into quarantine. Nil: whatever
  /// it is like, it is applied. An import that commits in batches is never judged: that takes all of it.
  public var limits: SnapshotLimits?
  /// Whether a feed (the first 20,000 records of a longer source) is written in the order of its codes even
  /// where it could be brought in portion by portion, beside events that are there already. That takes
  /// longer; but two imports of the same events at the same time wait for each other then, where otherwise
  /// one of them can end in a deadlock. If this is false, `OrderNeeded` may be thrown.
  public var isOrdered = true
  /// Do everything, then roll it back.
  public var dryRun = false

  /// Options for an import of `source`.
  public init(source: String, feed: String, program: String, author: String) {
    self.source = source
    self.feed = feed
    self.program = program
    self.author = author
  }
}

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
  var rejectBytesKept: Int64 = 0
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
