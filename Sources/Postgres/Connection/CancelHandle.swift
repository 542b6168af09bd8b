internal import Basics
internal import CLibpq

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
