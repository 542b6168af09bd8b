internal import Synchronization

/// Tells a thread that imports that its task was cancelled.
final class ImportCancellation: Sendable {
  private let flag = Atomic(false)

  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  func cancel() { flag.store(true, ordering: .relaxed) }
}
