import Basics
import CLinux
import Glibc
import Synchronization

/// Passes values from one thread to another, in their order.
final class Mailbox<Value: Sendable>: Sendable {
  private let event: WakeEvent
  private let values = Mutex<[Value]>([])

  /// Readable while there may be values.
  var descriptor: Int32 { event.descriptor }

  init() throws(DescriptorFailure) { event = try WakeEvent() }

  /// Puts values into it and wakes the other thread.
  func post(_ new: [Value]) {
    guard !new.isEmpty else { return }
    values.withLock { $0 += new }
    event.raise()
  }

  func post(_ value: Value) { post([value]) }

  /// Takes all values.
  func take() -> [Value] {
    // Before the values: those that come later make it readable again.
    event.lower()
    return values.withLock { values in
      defer { values = [] }
      return values
    }
  }
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
