/// Why the embedded server could not be found, started, stopped or reached.
public struct EmbeddedServerError: Error, Equatable, Sendable {
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
  /// More about the cause, in sentences or as lines of a program's output; empty if there is none.
  public var detail: String
  /// What to do about it, in sentences; empty if there is nothing to advise.
  public var hint: String

  /// An error of `kind`; `detail` and `hint` may be left out.
  public init(_ kind: Kind, _ message: String, detail: String = "", hint: String = "") {
    self.kind = kind
    self.message = message
    self.detail = detail
    self.hint = hint
  }
}

extension EmbeddedServerError: CustomStringConvertible {
  /// The message, and the detail and the hint each on lines of their own.
  public var description: String {
    var text = message
    if !detail.isEmpty { text += "\ndetail: " + detail }
    if !hint.isEmpty { text += "\nhint: " + hint }
    return text
  }
}
