internal import CLibpq

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
