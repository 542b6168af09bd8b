public import Basics
public import QuakeModel

/// An import that was refused because of the contents of its source. Nothing of it was stored.
public struct ImportRefusal: ExplainedError, Sendable {
  /// The problem of the source: a few words, lower case, no full stop.
  public let message: String
  /// More about it, in sentences.
  public let detail: String?
  /// What to do about it, in sentences.
  public let hint: String?
  /// The source cannot be used.
  public var category: ErrorCategory { .badData }
  /// The counts, if the source was read to its end.
  public let report: ImportReport?

  /// A refusal with this message, and more about it.
  public init(
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
