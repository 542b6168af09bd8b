import Basics
import Glibc

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
