public import Basics

/// A file that a tool cannot read or write.
public struct FileError: ExplainedError {
  /// What failed, on which file, and why.
  public let message: String
  /// More about it.
  public let detail: String?
  /// The exit status is 1.
  public var category: ErrorCategory { .failed }

  /// An error with what failed, on which file, and why.
  public init(_ message: String, detail: String? = nil) {
    self.message = message
    self.detail = detail
  }
}
