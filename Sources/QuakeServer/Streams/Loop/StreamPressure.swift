import Synchronization

/// Backpressure on the reader of the history: whether it should wait for clients that read as fast as they can.
final class StreamPressure: Sendable {
  private let state = Atomic<Bool>(false)

  var isSet: Bool { state.load(ordering: .relaxed) }

  func set(_ isSet: Bool) { state.store(isSet, ordering: .relaxed) }
}
