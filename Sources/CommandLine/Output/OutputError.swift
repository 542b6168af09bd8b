import Glibc

/// Why output could not be written.
public enum OutputError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reader has closed its end (EPIPE): the program should end quietly, with status 0.
  case closed
  /// The system refused; `code` is its errno.
  case failed(code: Int32)

  /// The reason, for an error message.
  public var description: String {
    switch self {
    case .closed: "output was closed by its reader"
    case .failed(let code): "could not write output: \(String(cString: strerror(code)))"
    }
  }
}
