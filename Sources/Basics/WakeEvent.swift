internal import CLinux
internal import Glibc

/// Wakes threads that wait in `poll(2)` or `epoll(7)`.
///
/// Every thread that waits for it holds it: a descriptor that was closed earlier could already be another
/// file of the process.
package final class WakeEvent: Sendable {
  /// Readable while it is raised.
  package let descriptor: Int32

  package init() throws(DescriptorFailure) {
    descriptor = quake_event_descriptor()
    guard descriptor >= 0 else { throw DescriptorFailure() }
  }

  deinit { close(descriptor) }

  /// Makes it readable.
  package func raise() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  /// Makes it unreadable again.
  package func lower() {
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
  }

  /// Waits until it is raised, at most for `duration`; nil: without a limit.
  ///
  /// - Returns: Whether it was raised.
  package func wait(for duration: Duration?) -> Bool {
    Self.wait(for: descriptor, until: duration.map { Deadline(after: $0) })
  }

  /// Waits until a descriptor is readable; false: the deadline passed first.
  package static func wait(for descriptor: Int32, until deadline: Deadline?) -> Bool {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&wanted, 1, deadline?.pollTimeout ?? -1)
      // Less than 0: a signal came in between.
      if count >= 0 { return count > 0 }
    }
  }
}

/// The system refuses a descriptor.
package struct DescriptorFailure: ExplainedError {
  package let message: String
  /// A failure with the present `errno`.
  package init() {
    message = "could not make an event descriptor: \(String(cString: strerror(errno)))"
  }

  package var hint: String? {
    "The limit on open files of the user or of the service may be too low."
  }
  package var category: ErrorCategory { .tryLater }
}
