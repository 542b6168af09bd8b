import CLinux
import Glibc

/// Wakes threads that wait in `poll(2)` or `epoll(7)`.
///
/// Every thread that waits for it holds it: a descriptor that was closed earlier could already be another
/// file of the process.
final class WakeEvent: Sendable {
  /// An error of the system.
  struct Failure: Error {
    var message: String
  }

  /// Readable while it is raised.
  let descriptor: Int32

  init() throws(Failure) {
    descriptor = quake_event_descriptor()
    guard descriptor >= 0 else {
      throw Failure(
        message: "could not make an event descriptor: \(String(cString: strerror(errno)))")
    }
  }

  deinit {
    close(descriptor)
  }

  /// Makes it readable.
  func raise() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  /// Makes it unreadable again.
  func lower() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
  }
}
