public import Basics
internal import Glibc

/// The server cannot listen on its address.
public struct ListenError: ExplainedError {
  /// What failed.
  public let message: String
  /// What to do.
  public let hint: String?
  /// What a caller can do about it.
  public let category: ErrorCategory

  init(_ address: ListenAddress, _ failure: SystemFailure) {
    let code = failure.code
    message = "could not listen on \(address): \(failure.reason)"
    category = code == EINVAL ? .usage : code == EACCES ? .notAllowed : .unavailable
    hint =
      switch code {
      case EADDRINUSE: "Another program listens there. Choose another port with --listen."
      case EACCES: "Ports below 1024 need privileges. Choose a higher one with --listen."
      case EADDRNOTAVAIL: "The machine has no such address."
      default: nil
      }
  }
}
