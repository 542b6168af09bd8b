import Dispatch
import Testing

/// Runs tasks on a queue of a test's own. Other tests block the few threads that tasks share, and a test
/// that measures how soon something happens must not wait for those.
final class OwnThread: TaskExecutor {
  private let queue: DispatchQueue

  /// - Parameter runsInOrder: Whether a job begins when the one before it has ended or waits.
  init(runsInOrder: Bool = false) {
    queue = DispatchQueue(label: "test", attributes: runsInOrder ? [] : .concurrent)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// For tasks that are not part of what `run` runs: those do not take its executor over.
  static let shared = OwnThread()

  /// What a test gets that waited in vain.
  struct TimedOut: Error {}

  /// Runs `body` on a queue of its own; throws `TimedOut` if it has not ended after `duration`.
  static func run<Value: Sendable>(
    within duration: Duration = .seconds(600), _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let task = Task(executorPreference: shared) { try await body() }
    let (whole, rest) = duration.components
    let seconds = Double(whole) + Double(rest) * 1e-18
    let deadline = DispatchWorkItem { task.cancel() }
    shared.queue.asyncAfter(deadline: .now() + seconds, execute: deadline)
    defer { deadline.cancel() }
    do {
      return try await task.value
    } catch is CancellationError {
      throw TimedOut()
    }
  }
}
