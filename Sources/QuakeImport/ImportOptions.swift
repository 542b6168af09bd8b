package import Basics
public import QuakeModel

/// The rule for an event that the store already has, with other contents.
public enum MergePolicy: String, CaseIterable, Sendable {
  /// The incoming contents replace those stored, unless these are of a newer snapshot.
  case incoming
  /// The incoming contents replace those stored, however old they are.
  case always
  /// The stored contents stay.
  case store
  /// The import fails and is rolled back.
  case error

  /// Whether incoming contents may replace stored ones.
  var overwrites: Bool { self == .incoming || self == .always }
}

/// The options of an import, and what its row in `quake.import` says about its source.
public struct ImportOptions: Sendable {
  /// The URL (without a password), path or `-` that the import reads.
  package var source: String
  /// Short name of the feed.
  package var feed: String
  /// Name and version of the program.
  package var program: String
  /// Author of the change in the history.
  public var author: String
  /// Context of the change in the history; by default the feed's name.
  public var context: String?
  package var httpStatus: Int?
  package var etag: String?
  /// Last-Modified of the HTTP answer, as it was given.
  package var lastModified: String?
  /// When the snapshot was generated, if it does not say so itself; nil: unknown. A snapshot of unknown
  /// age overwrites any other, and any other overwrites it.
  public var generated: Timestamp?
  /// The number of records after which to commit each time, from 1; nil: the import is one transaction.
  public var commitEvery: Int?
  /// The rule for events that the store already has.
  public var policy = MergePolicy.incoming
  /// Which events a snapshot of the feed should hold; nil: unknown.
  package var scope: FeedScope?
  /// How bad a snapshot may be and still be applied; a worse one goes into quarantine. Nil: the snapshot
  /// is not judged. An import that commits in batches is never judged: the judge needs all records.
  package var limits: SnapshotLimits?
  /// Whether simulated events may be stored beside those of other sources. Otherwise such an import is refused.
  public var mixesSimulated = false
  /// Whether the import, if it changes nothing, takes the place of the feed's previous one that changed nothing.
  package var replacesUnchanged = false
  /// Whether the import is rolled back at its end.
  public var dryRun = false

  package init(source: String, feed: String, program: String, author: String) {
    self.source = source
    self.feed = feed
    self.program = program
    self.author = author
  }
}

/// An import that was refused because of the contents of its source. Nothing of it was stored.
package struct ImportRefusal: ExplainedError, Sendable {
  /// The problem of the source: a few words, lower case, no full stop.
  package let message: String
  /// More about it, in sentences.
  package let detail: String?
  /// What to do about it, in sentences.
  package let hint: String?
  /// The source cannot be used.
  package var category: ErrorCategory { .badData }
  /// The counts, if the source was read to its end.
  package let report: ImportReport?

  /// A refusal with this message, and more about it.
  package init(
    _ message: String, detail: String? = "Nothing was imported.", hint: String? = nil,
    report: ImportReport? = nil
  ) {
    self.message = message
    self.detail = detail
    self.hint = hint
    self.report = report
  }
}

extension ImportRefusal {
  /// Refuses a source that was read to its end and has nothing but rejects.
  static func throwIfAllRejected(_ report: ImportReport) throws {
    guard report.seen > 0, report.rejected == report.seen, let first = report.firstReject
    else { return }
    var report = report
    report.id = nil
    report.isComplete = false
    throw ImportRefusal(
      report.seen == 1
        ? "the only record was rejected: \(first.place): \(first.reason)"
        : "all \(report.seen) records were rejected, the first: \(first.place): \(first.reason)",
      hint: "Check that this is an earthquake feed in a form this program reads.",
      report: report)
  }
}
