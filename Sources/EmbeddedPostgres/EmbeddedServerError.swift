/// Why the embedded server could not be found, started, stopped or reached.
public struct EmbeddedServerError: Error, Equatable, Sendable {
  /// The class of a failure, which a tool maps to an exit status.
  public enum Kind: Sendable {
    /// The server is not available (exit status 69).
    case unavailable
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
  /// More about the cause, in sentences or as lines of a program's output; empty if there is none.
  public var detail: String
  /// What to do next, in sentences; empty if there is no advice.
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
