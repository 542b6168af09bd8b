import CMicrohttpd
import Synchronization

/// A body without an end, whose socket is handed over when the header has been sent.
final class StreamBody: Sendable {
  private let connection: UInt
  private let suspended: SuspendedConnections
  private let start: Mutex<(@Sendable (TakenSocket) -> Void)?>
  private let response = Mutex<UInt?>(nil)

  init(
    _ connection: OpaquePointer, _ suspended: SuspendedConnections,
    _ start: @escaping @Sendable (TakenSocket) -> Void
  ) {
    self.connection = UInt(bitPattern: connection)
    self.suspended = suspended
    self.start = Mutex(start)
  }

  /// Sets the response. Its header fields are freed once they have been sent.
  func belongs(to response: OpaquePointer) {
    self.response.withLock { $0 = UInt(bitPattern: response) }
  }

  /// Frees the fields of the header, which take more than a kilobyte for each stream. "Connection" stays, because
  /// the library remembers that there is one.
  private func releaseHeader() {
    guard let response = response.withLock({ $0.take() }),
      let response = OpaquePointer(bitPattern: response)
    else { return }
    var fields: [(name: String, value: String)] = []
    withUnsafeMutablePointer(to: &fields) { fields in
      _ = MHD_get_response_headers(
        response,
        { fields, _, name, value in
          guard let name, let value else { return .YES }
          fields?.assumingMemoryBound(to: [(name: String, value: String)].self).pointee.append(
            (String(cString: name), String(cString: value)))
          return .YES
        }, fields)
    }
    for field in fields where field.name != "Connection" {
      _ = MHD_del_response_header(response, field.name, field.value)
    }
  }

  /// Suspends the connection and hands its socket over; false if that was done before, and the stream has ended.
  func begin() -> Bool {
    releaseHeader()
    guard let start = start.withLock({ $0.take() }),
      let pointer = OpaquePointer(bitPattern: connection), suspended.suspend(pointer)
    else { return false }
    let (place, suspended) = (connection, suspended)
    start(
      TakenSocket(descriptor: quake_mhd_connection_socket(pointer)) { suspended.resume(place) })
    return true
  }
}
