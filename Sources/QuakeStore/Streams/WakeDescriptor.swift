internal import Basics
internal import Glibc
internal import Postgres

/// Ends a wait in `poll(2)` from another thread: readable while it is raised.
final class WakeDescriptor: Sendable {
  /// The descriptor to wait for.
  let descriptor: Int32
  private let raising: Int32

  init() throws(PostgresError) {
    // A socket pair, because Swift's Glibc module has no call that makes a pipe or an event descriptor
    // which a child process does not inherit.
    var ends: [Int32] = [-1, -1]
    let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    guard socketpair(AF_UNIX, Int32(type), 0, &ends) == 0 else {
      throw PostgresError(
        kind: .connection,
        message: "could not make a wake descriptor: \(String(cString: strerror(errno)))")
    }
    descriptor = ends[0]
    raising = ends[1]
  }

  deinit {
    close(descriptor)
    close(raising)
  }

  /// Makes it readable. If its buffer is full, it is readable already.
  func raise() {
    var byte: UInt8 = 1
    _ = write(raising, &byte, 1)
  }

  /// Makes it unreadable again.
  func lower() {
    withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
      while read(descriptor, buffer.baseAddress, buffer.count) == buffer.count {}
    }
  }

  /// Waits until it is raised, at most for `duration`; nil: without a limit.
  ///
  /// - Returns: Whether it was raised.
  func wait(for duration: Duration?) -> Bool {
    Self.wait(for: descriptor, until: duration.map { Deadline(after: $0) })
  }

  /// Waits until a descriptor is readable; false: the deadline passed first.
  static func wait(for descriptor: Int32, until deadline: Deadline?) -> Bool {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let count = poll(&wanted, 1, deadline?.pollTimeout ?? -1)
      // Less than 0: a signal came in between.
      if count >= 0 { return count > 0 }
    }
  }
}
