public import ExplainedErrors

/// Why the embedded server could not be found, started, stopped or reached.
public struct EmbeddedServerError: ExplainedError, Equatable, Sendable {
  /// What a program should tell its caller; a tool maps it to an exit status.
  public enum Kind: Sendable {
    /// The server cannot be had here and now (exit status 69).
    case unavailable
    /// Somebody else holds the lock or is in the middle of something (75).
    case tryLater
    /// A folder or an account belongs to someone else (77).
    case notAllowed
    /// A setting, a version or an installation is not as it has to be (78).
    case configuration
  }

  /// The class of the failure.
  public var kind: Kind
  /// One line, lower case, no full stop.
  public var message: String
  /// More about the cause, in sentences or as lines of a program's output.
  public var detail: String?
  /// What to do about it, in sentences.
  public var hint: String?

  /// An error of `kind`; `detail` and `hint` may be left out.
  public init(_ kind: Kind, _ message: String, detail: String? = nil, hint: String? = nil) {
    self.kind = kind
    self.message = message
    // What a program printed may be nothing.
    self.detail = detail?.isEmpty == true ? nil : detail
    self.hint = hint
  }

  /// What a caller can do about it.
  public var category: ErrorCategory {
    switch kind {
    case .unavailable: .unavailable
    case .tryLater: .tryLater
    case .notAllowed: .notAllowed
    case .configuration: .schema
    }
  }
}
