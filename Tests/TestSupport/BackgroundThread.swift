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
