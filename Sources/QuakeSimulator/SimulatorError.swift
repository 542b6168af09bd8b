package import Basics
import Glibc

/// An error of the simulator, in the style of PostgreSQL's messages.
package struct SimulatorError: ExplainedError, Sendable, Equatable {
  /// The kind of failure.
  package enum Code: Sendable {
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
  package var code: Code
  /// One line in lower case, without a full stop.
  package var message: String
  /// More about it, as sentences, or nil.
  package var detail: String?
  /// What to do next, as sentences, or nil.
  package var hint: String?
  /// A port, a server or an output is unavailable.
  package var category: ErrorCategory { .unavailable }

  init(_ code: Code, _ message: String, detail: String? = nil, hint: String? = nil) {
    self.code = code
    self.message = message
    self.detail = detail
    self.hint = hint
  }
}

extension SimulatorError {
  /// The simulator cannot listen on a port.
  init(listeningOn port: Int, _ failure: SystemFailure) {
    let hint =
      switch failure.code {
      case EADDRINUSE: "Choose another port, or 0 for any that is free."
      case EACCES: "Ports below 1024 need privileges: choose a higher one."
      default: nil as String?
      }
    self.init(
      .portUnavailable, "could not listen on 127.0.0.1 port \(port): \(failure.reason)",
      detail: failure.code == EADDRINUSE ? "Another program listens there." : nil, hint: hint)
  }
}
