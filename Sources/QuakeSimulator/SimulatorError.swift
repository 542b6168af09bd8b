public import Basics

/// An error of the simulator, in the style of PostgreSQL's messages.
public struct SimulatorError: ExplainedError, Sendable, Equatable {
  /// The kind of failure.
  public enum Code: Sendable {
    /// An option is out of its range.
    case invalidOption
    /// The port is not available.
    case portUnavailable
    /// The server could not be started for another reason.
    case couldNotStart
    /// The output could not be written.
    case couldNotWrite
  }

  /// The kind of failure.
  public var code: Code
  /// One line in lower case, without a full stop.
  public var message: String
  /// More about it, as sentences, or nil.
  public var detail: String?
  /// What to do next, as sentences, or nil.
  public var hint: String?
  /// A port, a server or an output is unavailable.
  public var category: ErrorCategory { .unavailable }

  init(_ code: Code, _ message: String, detail: String? = nil, hint: String? = nil) {
    self.code = code
    self.message = message
    self.detail = detail
    self.hint = hint
  }
}
