internal import CLibpq
internal import Glibc
internal import SystemClock

/// Asks the server, from any thread, to give up the statement a connection is running.
///
/// `@unchecked Sendable` holds because the handle is never changed after its creation and libpq
/// documents `PQcancel` as safe to call from another thread, and from a signal handler.
public final class CancelHandle: @unchecked Sendable {
  private let handle: OpaquePointer

  init?(connection: OpaquePointer) {
    guard let handle = PQgetCancel(connection) else { return nil }
    self.handle = handle
  }

  deinit {
    PQfreeCancel(handle)
  }

  /// How long a request may take where the caller has something better to do.
  static let patience = Duration.seconds(5)

  /// Sends the request, and waits for it to be taken, but not for longer than `duration`: libpq itself
  /// waits for as long as the server likes.
  func cancel(within duration: Duration) {
    guard let attempt = Attempt(self) else { return }
    attempt.wait(until: Deadline(after: duration))
  }

  /// A request that is sent by a thread of its own.
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

    /// nil if there are no means for a thread.
    init?(_ handle: CancelHandle) {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else { return nil }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      // Its end of the pipe is closed when the thread is done with it.
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

  /// Sends the request. Whether it came in time shows in the statement's own outcome (57014).
  public func cancel() throws(PostgresError) {
    let failure: String? = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      PQcancel(handle, buffer.baseAddress, Int32(buffer.count)) == 1
        ? nil : buffer.baseAddress.map { String(cString: $0) } ?? ""
    }
    if let failure {
      throw PostgresError(kind: .connection, message: "could not send a cancel request: \(failure)")
    }
  }
}
