import Glibc
import TestSupport

/// A pipe whose reading end is a wake descriptor.
final class Wake {
  let descriptor: Int32
  private let writing: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw SilentServer.Failure(code: errno) }
    descriptor = ends[0]
    writing = ends[1]
  }

  deinit {
    close(descriptor)
    close(writing)
  }

  func ring() {
    var byte: UInt8 = 1
    _ = write(writing, &byte, 1)
  }
}
