internal import Basics
internal import CLibpq
internal import Glibc
internal import Synchronization

/// A call of libpq that blocks, on a thread of its own, because libpq does not let the caller end its wait.
enum BlockingCall {
  /// The value on its way from the thread to the caller, whichever is first.
  private final class Handover<Value: Sendable>: Sendable {
    private enum State {
      case pending
      case done(Value)
      case abandoned
    }

    private let state = Mutex(State.pending)

    /// Leaves the value for the caller; false: it does not wait any more.
    func put(_ value: Value) -> Bool {
      state.withLock { state in
        if case .abandoned = state { return false }
        state = .done(value)
        return true
      }
    }

    /// The value; nil: there is none yet, and the caller does not wait for it.
    func take() -> Value? {
      state.withLock { state in
        guard case .done(let value) = state else {
          state = .abandoned
          return nil
        }
        return value
      }
    }
  }

  /// How a wait for a call ended.
  enum Outcome<Value> {
    case returned(Value)
    case timedOut
    case woken
  }

  /// Waits until the call returns, at most until the deadline, or until the wake descriptor is readable.
  ///
  /// - Parameters:
  ///   - call: The call. It goes on if the wait ends before it returns.
  ///   - discard: Gets a value for which nobody waits any more.
  /// - Throws: `PostgresError` of kind `connection` if the system refuses a thread or a descriptor.
  static func run<Value: Sendable>(
    until deadline: Deadline?, wake: Int32?, _ call: @escaping @Sendable () -> Value,
    discard: @escaping @Sendable (Value) -> Void
  ) throws(PostgresError) -> Outcome<Value> {
    let handover = Handover<Value>()
    let done: WakeEvent
    do {
      done = try WakeEvent()
      try DetachedThread.start { [done] in
        let value = call()
        if !handover.put(value) { discard(value) }
        done.raise()
      }
    } catch {
      let failure = error as? any ExplainedError
      throw PostgresError(
        kind: .connection, message: failure?.message ?? "\(error)", hint: failure?.hint)
    }
    let outcome = Connection.wait(
      done.descriptor, for: Int16(POLLIN), until: deadline, wake: wake)
    if let value = handover.take() { return .returned(value) }
    return outcome == .woken ? .woken : .timedOut
  }
}

/// Requests the server, from any thread, to cancel the running statement of a connection.
///
/// `@unchecked Sendable` holds because the handle is never changed after its creation and libpq
/// documents `PQcancel` as safe to call from another thread, and from a signal handler.
package final class CancelHandle: @unchecked Sendable {
  private let handle: OpaquePointer

  init?(connection: OpaquePointer) {
    guard let handle = PQgetCancel(connection) else { return nil }
    self.handle = handle
  }

  deinit {
    PQfreeCancel(handle)
  }

  /// How long a caller that has other work waits for a request.
  static let patience = Duration.seconds(5)

  /// Sends the request, and waits at most `duration` until the server has received it. libpq itself would
  /// wait without a limit.
  func cancel(within duration: Duration) {
    _ = try? BlockingCall.run(until: Deadline(after: duration), wake: nil) {
      try? self.cancel()
    } discard: { _ in
    }
  }

  /// Sends the request. If it arrived in time, the statement fails with SQLSTATE 57014.
  package func cancel() throws(PostgresError) {
    let failure: String? = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      PQcancel(handle, buffer.baseAddress, Int32(buffer.count)) == 1
        ? nil : buffer.baseAddress.map { String(cString: $0) } ?? ""
    }
    if let failure {
      throw PostgresError(kind: .connection, message: "could not send a cancel request: \(failure)")
    }
  }
}
