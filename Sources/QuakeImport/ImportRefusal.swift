public import ExplainedErrors
public import QuakeModel

/// An import that was refused because of what its source holds. Nothing of it was stored.
public struct ImportRefusal: ExplainedError, Sendable {
  /// What was wrong with the source: a few words, lower case, no full stop.
  public let message: String
  /// More about it, in sentences.
  public let detail: String?
  /// What to do about it, in sentences.
  public let hint: String?
  /// The source cannot be used.
  public var category: ErrorCategory { .badData }
  /// What was counted, if the source had been read whole.
  public let report: ImportReport?

  /// A refusal of the given parts.
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
