import Glibc
import TestSupport

/// A port of this machine that no program listens on. While this object lives, the system gives the port to no
/// program that asks for any free one. A program that is told the number and sets `SO_REUSEADDR` can listen on it.
final class ReservedPort {
  let number: Int
  private let descriptor: Int32

  init() throws {
    (descriptor, number) = try LocalSocket.bind(reuses: true)
  }

  deinit { close(descriptor) }
}
