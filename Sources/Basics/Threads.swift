internal import CLinux
internal import Glibc
internal import Synchronization

/// Starts threads for blocking calls, which must not run on Swift's pool: that has only as many threads as the
/// machine has cores.
package enum DetachedThread {
  /// The object behind the one pointer that a C function gets.
  private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }

  /// Enough for libpq with TLS and name resolution. The usual 8 MiB for each of hundreds of streams would
  /// waste address space.
  private static let stackSize = 1 << 20

  /// Runs `body` on a new thread, which blocks all signals: they are for the program's own threads.
  package static func start(_ body: @escaping @Sendable () -> Void) throws(ThreadError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackSize)
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let work = Unmanaged.passRetained(Work(body))
    let status = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    guard status == 0 else {
      work.release()
      throw ThreadError(status)
    }
  }
}

package struct ThreadError: ExplainedError {
  package let message: String
  package let hint: String? = "The limit on processes of the user or of the service may be too low."
  package let category = ErrorCategory.tryLater

  /// - Parameter status: What `pthread_create` returned.
  package init(_ status: Int32) {
    message = "could not start a thread: \(String(cString: strerror(status)))"
  }
}

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

  package func raise() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  /// Makes it unreadable again. Returns whether it was raised.
  @discardableResult
  package func lower() -> Bool {
    var count: UInt64 = 0
    return read(descriptor, &count, 8) == 8
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

/// Passes values from other threads to one, in their order.
package final class Mailbox<Value: Sendable>: Sendable {
  private struct State {
    var values: [Value] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  private let event: WakeEvent

  package init() throws(DescriptorFailure) { event = try WakeEvent() }

  /// Readable while there may be values.
  package var descriptor: Int32 { event.descriptor }

  /// Adds values, and wakes the thread that takes them.
  ///
  /// - Returns: Whether it is open: otherwise nobody takes them.
  @discardableResult
  package func post(_ new: [Value]) -> Bool {
    let (isOpen, wasEmpty) = state.withLock { state in
      guard !state.isClosed else { return (false, false) }
      defer { state.values += new }
      return (true, state.values.isEmpty)
    }
    if wasEmpty, !new.isEmpty { event.raise() }
    return isOpen
  }

  @discardableResult
  package func post(_ value: Value) -> Bool { post([value]) }

  package func take() -> [Value] {
    // Before the values: those that come later make it readable again.
    event.lower()
    return state.withLock { state in
      defer { state.values = [] }
      return state.values
    }
  }

  /// Takes the last values: it gets no more.
  package func close() -> [Value] {
    state.withLock { $0.isClosed = true }
    return take()
  }
}

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
