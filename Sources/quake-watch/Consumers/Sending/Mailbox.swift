import Basics
import CLinux
import Glibc
import Synchronization

/// Passes values from one thread to another, in their order.
final class Mailbox<Value: Sendable>: Sendable {
  /// Readable while there may be values.
  let descriptor: Int32
  private let values = Mutex<[Value]>([])

  init() throws {
    descriptor = quake_event_descriptor()
    guard descriptor >= 0 else { throw DescriptorFailure() }
  }

  deinit { close(descriptor) }

  /// Puts values into it and wakes the other thread.
  func post(_ new: [Value]) {
    guard !new.isEmpty else { return }
    values.withLock { $0 += new }
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  func post(_ value: Value) { post([value]) }

  /// Takes all values.
  func take() -> [Value] {
    var count: UInt64 = 0
    // Before the values: those that come later make it readable again.
    _ = read(descriptor, &count, 8)
    return values.withLock { values in
      defer { values = [] }
      return values
    }
  }
}

/// The system refuses a descriptor.
struct DescriptorFailure: ExplainedError {
  let message: String

  init() {
    message = "could not make an event descriptor: \(String(cString: strerror(errno)))"
  }

  var hint: String? { "The limit on open files of the user or of the service may be too low." }
  var category: ErrorCategory { .tryLater }
}

/// One descriptor that is readable while one of several is.
final class AnyDescriptor {
  let descriptor: Int32

  init(_ descriptors: [Int32]) throws {
    descriptor = quake_epoll_create()
    guard descriptor >= 0 else { throw DescriptorFailure() }
    for one in descriptors where quake_epoll_add_wake(descriptor, one, 0) != 0 {
      throw DescriptorFailure()
    }
  }

  deinit { close(descriptor) }
}
