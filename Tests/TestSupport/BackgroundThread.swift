import Glibc
import Synchronization

/// A thread for code that blocks: Swift's cooperative pool has no thread to spare for that.
package final class BackgroundThread: Sendable {
  private let state: State
  private let handle: pthread_t

  private final class State: Sendable {
    let body: @Sendable () throws -> Void
    let failure = Mutex<(any Error)?>(nil)

    init(_ body: @escaping @Sendable () throws -> Void) {
      self.body = body
    }
  }

  /// Starts a thread.
  package init(_ body: @escaping @Sendable () throws -> Void) {
    state = State(body)
    var thread = pthread_t()
    let argument = Unmanaged.passRetained(state).toOpaque()
    let status = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let state = Unmanaged<State>.fromOpaque(argument).takeRetainedValue()
        do {
          try state.body()
        } catch {
          state.failure.withLock { $0 = error }
        }
        return nil
      }, argument)
    precondition(status == 0, "could not start a thread")
    handle = thread
  }

  /// Waits for the thread to end, and throws its error. Call this once.
  package func join() throws {
    pthread_join(handle, nil)
    if let failure = state.failure.withLock({ $0 }) { throw failure }
  }

  /// Starts a thread without waiting for its end.
  package static func detach(_ body: @escaping @Sendable () -> Void) {
    pthread_detach(BackgroundThread(body).handle)
  }

  /// Runs `body` on `count` threads at once, each with its number, waits for all of them, and
  /// throws their first error.
  package static func run(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Void
  ) throws {
    let threads = (0..<count).map { number in BackgroundThread { try body(number) } }
    var failure: (any Error)?
    for thread in threads {
      do { try thread.join() } catch { if failure == nil { failure = error } }
    }
    if let failure { throw failure }
  }
}

/// Something that happens once, and that other threads may wait for.
package final class Event: Sendable {
  private let hasHappened = Atomic<Bool>(false)

  /// Something that has not happened yet.
  package init() {}

  /// Makes it happen.
  package func happen() { hasHappened.store(true, ordering: .releasing) }

  /// Waits until it has happened; false if it had not in time.
  @discardableResult
  package func wait(within patience: Duration = ToolProcess.patience) -> Bool {
    let deadline = ContinuousClock.now + patience
    while !hasHappened.load(ordering: .acquiring) {
      guard ContinuousClock.now < deadline else { return false }
      poll(nil, 0, 1)
    }
    return true
  }

  /// Waits until it has happened.
  package func require(_ what: String) throws {
    guard wait() else { throw ToolProcess.Failure(description: "waited in vain: \(what)") }
  }
}

/// A sum that several threads add to.
package final class Tally: Sendable {
  private let value = Atomic<Int>(0)

  /// Begins with 0.
  package init() {}

  /// Adds to the sum.
  package func add(_ number: Int) { value.add(number, ordering: .relaxed) }

  /// The sum.
  package var total: Int { value.load(ordering: .relaxed) }
}

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
