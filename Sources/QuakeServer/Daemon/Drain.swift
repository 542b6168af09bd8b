import Synchronization

/// Whether the server has begun to stop.
final class Drain: Sendable {
  private let state = Atomic(false)

  var hasBegun: Bool { state.load(ordering: .sequentiallyConsistent) }

  func begin() { state.store(true, ordering: .sequentiallyConsistent) }
}
