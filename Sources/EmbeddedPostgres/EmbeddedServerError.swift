public import Basics

/// Why the embedded server could not be found, started, stopped or reached.
public struct EmbeddedServerError: ExplainedError, Equatable, Sendable {
  /// The class of a failure, which a tool maps to an exit status.
  public enum Kind: Sendable {
    /// The server is not available (exit status 69).
    case unavailable
    /// The server has not been created, and the caller did not want to create it (69).
    case absent
    /// Another program holds the lock, or the server is busy (75).
    case tryLater
    /// A folder belongs to another account (77).
    case notAllowed
    /// A setting, a version or the installation is wrong (78).
    case configuration
  }

  /// The class of the failure.
  public var kind: Kind
  /// One line, lower case, no full stop.
  public var message: String
  /// More about the cause, in sentences or as lines of a program's output.
  public var detail: String?
  /// What to do next, in sentences.
  public var hint: String?

  /// An error of `kind`; `detail` and `hint` may be left out.
  public init(_ kind: Kind, _ message: String, detail: String? = nil, hint: String? = nil) {
    self.kind = kind
    self.message = message
    // The output of a program may be empty.
    self.detail = detail?.isEmpty == true ? nil : detail
    self.hint = hint
  }

  /// What a caller can do about it.
  public var category: ErrorCategory {
    switch kind {
    case .unavailable, .absent: .unavailable
    case .tryLater: .tryLater
    case .notAllowed: .notAllowed
    case .configuration: .schema
    }
  }
}
