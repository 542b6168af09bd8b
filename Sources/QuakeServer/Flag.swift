import Synchronization

/// A flag that one thread sets and others look at.
final class Flag: Sendable {
  private let state: Atomic<Bool>

  init(_ isSet: Bool = false) { state = Atomic(isSet) }

  var isSet: Bool { state.load(ordering: .sequentiallyConsistent) }

  func set(_ isSet: Bool = true) { state.store(isSet, ordering: .sequentiallyConsistent) }
}
