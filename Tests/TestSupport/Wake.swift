import Glibc

/// A pipe whose reading end is a wake descriptor.
package final class Wake {
  /// Its number.
  package let descriptor: Int32
  private let writing: Int32

  /// A pipe with nothing in it.
  package init() throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else {
      throw ToolProcess.Failure(
        description: "could not make a pipe: \(String(cString: strerror(errno)))")
    }
    descriptor = ends[0]
    writing = ends[1]
  }

  deinit {
    close(descriptor)
    close(writing)
  }

  /// Makes the descriptor readable.
  package func trigger() {
    var byte: UInt8 = 1
    _ = write(writing, &byte, 1)
  }
}
