internal import Basics
internal import Postgres
internal import Synchronization

/// A thread that runs a `PullSource` for a consumer: it makes blocking calls while the consumer's task is
/// suspended.
///
/// It produces elements on demand only, so that a slow consumer costs no memory.
final class PullThread<Element: Sendable>: Sendable {
  typealias MakeSource = @Sendable (_ wake: Int32) throws -> any PullSource<Element>
  private typealias Demand = CheckedContinuation<Element?, any Error>

  private enum State {
    /// There is no thread yet; the first demand starts it.
    case unstarted(MakeSource)
    /// The thread waits for a demand, at the descriptor.
    case waiting
    /// The thread is busy without a demand; it looks for one before it waits.
    case pausing
    /// The thread works for the consumer, who is suspended.
    case producing(Demand)
    /// The source has come to its end, or failed.
    case finished
    /// The consumer has cancelled, or is gone.
    case stopped
  }

  private let state: Mutex<State>
  private let wake: WakeEvent

  /// A thread that begins with the first demand.
  init(_ makeSource: @escaping MakeSource) throws(DescriptorFailure) {
    state = Mutex(.unstarted(makeSource))
    wake = try WakeEvent()
  }

  /// How long the consumer may take before the source pauses.
  private static var patience: Duration { .milliseconds(250) }

  // MARK: - The consumer's side

  /// Asks for the next element and waits for it; nil at the end, and after an error.
  ///
  /// - Throws: What the source throws; `CancellationError` when the task is cancelled, after which the
  ///   thread ends.
  func next() async throws -> Element? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { demand($0) }
    } onCancel: {
      stop()
    }
  }

  /// Ends the thread, and with it the connection. Returns at once.
  func stop() {
    let waiting: Demand? = state.withLock { state in
      wake.raise()
      switch state {
      case .finished, .stopped:
        return nil
      case .producing(let demand):
        state = .stopped
        return demand
      case .unstarted, .waiting, .pausing:
        state = .stopped
        return nil
      }
    }
    waiting?.resume(throwing: CancellationError())
  }

  private func demand(_ demand: Demand) {
    let answer: Result<Element?, any Error>? = state.withLock { state in
      switch state {
      case .unstarted(let makeSource):
        do throws(ThreadError) {
          try DetachedThread.start { self.run(makeSource) }
          state = .producing(demand)
          return nil
        } catch {
          state = .finished
          return .failure(error)
        }
      case .waiting:
        state = .producing(demand)
        wake.raise()
        return nil
      case .pausing:
        state = .producing(demand)
        return nil
      case .producing:
        preconditionFailure("an iterator was asked for two elements at once")
      case .finished:
        return .success(nil)
      case .stopped:
        return .failure(CancellationError())
      }
    }
    if let answer { demand.resume(with: answer) }
  }

  // MARK: - The thread's side

  private func run(_ makeSource: MakeSource) {
    do {
      var source = try makeSource(wake.descriptor)
      while true {
        guard let element = try source.next() else { break }
        guard answer(.success(element), state: .pausing), waitForDemand(&source) else { return }
      }
      _ = answer(.success(nil), state: .finished)
    } catch {
      _ = answer(.failure(error), state: .finished)
    }
  }

  /// Hands a result over to the consumer; false: the consumer is gone.
  private func answer(_ result: sending Result<Element?, any Error>, state next: State) -> Bool {
    let waiting: Demand? = state.withLock { state in
      guard case .producing(let demand) = state else { return nil }
      state = next
      return demand
    }
    waiting?.resume(with: result)
    return waiting != nil
  }

  /// Waits until the consumer asks again; false: the consumer is gone.
  private func waitForDemand(_ source: inout some PullSource<Element>) -> Bool {
    var hasPaused = false
    while true {
      if let decided = look(becoming: .waiting) { return decided }
      let isRaised = wake.wait(for: hasPaused ? nil : Self.patience)
      if let decided = look(becoming: .pausing) { return decided }
      if !isRaised {
        source.pause()
        hasPaused = true
      }
    }
  }

  /// Whether there is a demand; nil: not yet, and the state has become `next`.
  private func look(becoming next: State) -> Bool? {
    state.withLock { state in
      switch state {
      case .stopped: return false
      case .producing:
        // From now on a raised descriptor tells the source to end.
        wake.lower()
        return true
      case .unstarted, .waiting, .pausing, .finished:
        state = next
        return nil
      }
    }
  }
}

/// Ends a thread when the last reference to it is gone: a dropped iterator closes its connection.
final class PullHandle<Element: Sendable>: Sendable {
  let thread: PullThread<Element>

  init(_ thread: PullThread<Element>) {
    self.thread = thread
  }

  deinit {
    thread.stop()
  }
}

/// Asks a thread for one element at a time. The thread begins with the first `next()` and ends with the
/// iterator.
public struct PullIterator<Element: Sendable>: AsyncIteratorProtocol {
  private let makeSource: PullThread<Element>.MakeSource
  private var handle: PullHandle<Element>?

  init(_ makeSource: @escaping PullThread<Element>.MakeSource) {
    self.makeSource = makeSource
  }

  /// The next element; nil at the end and after an error.
  public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
    if handle == nil { handle = PullHandle(try PullThread(makeSource)) }
    return try await handle?.thread.next()
  }
}

/// Produces elements for one consumer on a thread of its own, each on demand.
///
/// A source is made, used and destroyed on that thread, and may block there. When it is made it gets a
/// descriptor that becomes readable when the consumer is gone; then it must end soon, by throwing any error.
protocol PullSource<Element> {
  associatedtype Element: Sendable

  /// Produces the next element; nil at the end.
  mutating func next() throws -> Element?

  /// Is called when the consumer has not asked for a while. Must not wait for long.
  mutating func pause()
}
