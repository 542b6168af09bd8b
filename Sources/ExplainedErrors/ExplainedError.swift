/// An error that says what failed, why, and what to do about it, as PostgreSQL's own errors do.
public protocol ExplainedError: Error, CustomStringConvertible {
  /// What failed and on what: a few words, lower case, no full stop.
  var message: String { get }
  /// Why, in sentences.
  var detail: String? { get }
  /// What to do next, in sentences.
  var hint: String? { get }
  /// What a caller can do about it.
  var category: ErrorCategory { get }
}

extension ExplainedError {
  /// No more is known.
  public var detail: String? { nil }

  /// There is nothing to do about it.
  public var hint: String? { nil }

  /// Message, detail and hint, on a line each.
  public var description: String {
    message + (detail.map { "\ndetail: \($0)" } ?? "") + (hint.map { "\nhint: \($0)" } ?? "")
  }
}
