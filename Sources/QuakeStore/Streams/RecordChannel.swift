package import Basics
package import QuakeModel
internal import Synchronization

/// Carries records from a task to a thread that blocks while there are none. It holds a limited number, so
/// that a sender which is faster than the receiver waits.
package final class RecordChannel: Sendable {
  private struct State {
    var records: [EventRecord] = []
    /// The sender, while it waits because the channel is full.
    var sender: CheckedContinuation<Void, Never>?
    /// Nil until the sender has finished.
    var ending: Result<Void, any Error>?
    var isClosed = false
  }

  private static let capacity = 256

  private let state = Mutex(State())
  private let wake: WakeEvent

  package init() throws(DescriptorFailure) {
    wake = try WakeEvent()
  }

  // MARK: - The task's side

  /// Sends a record, and waits while the channel is full.
  ///
  /// - Returns: Whether the receiver still wants records.
  package func send(_ record: EventRecord) async -> Bool {
    let mustWait = state.withLock { state in
      guard !state.isClosed else { return false }
      state.records.append(record)
      if state.records.count == 1 { wake.raise() }
      return state.records.count >= Self.capacity
    }
    if mustWait {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          guard !state.isClosed, state.records.count >= Self.capacity else { return true }
          state.sender = continuation
          return false
        }
        if isReady { continuation.resume() }
      }
    }
    return state.withLock { !$0.isClosed }
  }

  /// Ends the records. An error ends the receiver with it.
  package func finish(_ ending: Result<Void, any Error>) {
    state.withLock { state in
      state.ending = state.ending ?? ending
      wake.raise()
    }
  }

  // MARK: - The thread's side

  /// Waits for records and takes all that are there; empty at the end.
  ///
  /// - Throws: The error with which the sender finished; `CancellationError` after `close`.
  package func receive() throws -> [EventRecord] {
    while true {
      let (taken, sender): ([EventRecord]?, CheckedContinuation<Void, Never>?) =
        try state.withLock { state in
          guard !state.isClosed else { throw CancellationError() }
          guard state.records.isEmpty else {
            defer {
              state.records.removeAll(keepingCapacity: true)
              state.sender = nil
            }
            return (state.records, state.sender)
          }
          if let ending = state.ending {
            try ending.get()
            return ([], nil)
          }
          // Whatever comes from here on raises it again.
          wake.lower()
          return (nil, nil)
        }
      sender?.resume()
      if let taken { return taken }
      _ = wake.wait(for: nil)
    }
  }

  /// Ends both sides: the receiver wants no more records.
  package func close() {
    let sender = state.withLock { state in
      defer { state.sender = nil }
      state.isClosed = true
      wake.raise()
      return state.sender
    }
    sender?.resume()
  }
}
