internal import Glibc

/// A call of the system has failed. The module that needed it says what it could not do, in an error of its own.
public struct SystemFailure: Error {
  /// The error number.
  public let code: Int32
  /// The system's description of it.
  public let reason: String

  init(_ code: Int32) {
    self.init(code, reason: String(cString: strerror(code)))
  }

  init(_ code: Int32, reason: String) {
    self.code = code
    self.reason = reason
  }
}
