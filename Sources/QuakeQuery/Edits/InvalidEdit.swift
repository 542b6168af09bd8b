public import Basics

/// An edit that cannot be made, such as one with a value that its column cannot hold.
public struct InvalidEdit: ExplainedError, Sendable {
  /// What is wrong, in a few words, lower case, without a full stop.
  public let message: String
  /// What to do about it, in sentences.
  public let hint: String?
  /// The caller's mistake.
  public var category: ErrorCategory { .usage }

  init(_ message: String, hint: String? = nil) {
    self.message = message
    self.hint = hint
  }
}
