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
