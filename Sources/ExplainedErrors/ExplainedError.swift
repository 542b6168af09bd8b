/// An error with message, detail and hint, like PostgreSQL's errors.
public protocol ExplainedError: Error, CustomStringConvertible {
  /// What failed, on which object: a phrase in lower case, without a full stop.
  var message: String { get }
  /// The cause, in sentences.
  var detail: String? { get }
  /// What to do next, in sentences.
  var hint: String? { get }
  /// What a caller can do about it.
  var category: ErrorCategory { get }
}

extension ExplainedError {
  /// By default nil.
  public var detail: String? { nil }

  /// By default nil.
  public var hint: String? { nil }

  /// Message, detail and hint, on a line each.
  public var description: String {
    message + (detail.map { "\ndetail: \($0)" } ?? "") + (hint.map { "\nhint: \($0)" } ?? "")
  }
}
