import Glibc
import Synchronization

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
