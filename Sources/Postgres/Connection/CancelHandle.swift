internal import Basics
internal import CLibpq
internal import Glibc

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
    guard let attempt = Attempt(self) else { return }
    attempt.wait(until: Deadline(after: duration))
  }

  /// A request that a separate thread sends.
  private struct Attempt: ~Copyable {
    private final class Work: Sendable {
      let handle: CancelHandle
      let done: Int32

      init(_ handle: CancelHandle, done: Int32) {
        self.handle = handle
        self.done = done
      }

      deinit { close(done) }
    }

    private let done: Int32

    /// Starts the thread; nil if it cannot be created.
    init?(_ handle: CancelHandle) {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { return nil }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      // The thread closes its end of the pipe when it is done.
      let work = Unmanaged.passRetained(Work(handle, done: ends[1]))
      var thread = pthread_t()
      let status = pthread_create(
        &thread, nil,
        { argument in
          guard let argument else { return nil }
          let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
          try? work.handle.cancel()
          return nil
        }, work.toOpaque())
      guard status == 0 else {
        work.release()
        close(ends[0])
        return nil
      }
      pthread_detach(thread)
      done = ends[0]
    }

    deinit { close(done) }

    func wait(until deadline: Deadline) {
      var waiting = pollfd(fd: done, events: Int16(POLLIN), revents: 0)
      while poll(&waiting, 1, deadline.pollTimeout) < 0, errno == EINTR {}
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
