import CMicrohttpd
import Glibc
import Synchronization

/// The connections that a fault has suspended on purpose.
///
/// libmicrohttpd does not watch a suspended connection, so it does not notice when the client closes it, and
/// it must not be stopped while there is one. This type handles both.
final class StalledConnections: Sendable {
  private struct State: Sendable {
    var isStopping = false
    /// The addresses of the suspended `MHD_Connection`s: each is valid until it is resumed, because
    /// libmicrohttpd frees no suspended connection.
    var suspended: [UInt] = []
  }

  private let state = Mutex(State())

  /// The number of suspended connections.
  var count: Int { state.withLock { $0.suspended.count } }

  /// Suspends a connection, from within its content reader; false when the server is stopping and
  /// the connection is to be closed instead.
  func suspend(_ connection: OpaquePointer) -> Bool {
    state.withLock { state in
      guard !state.isStopping else { return false }
      MHD_suspend_connection(connection)
      state.suspended.append(UInt(bitPattern: connection))
      return true
    }
  }

  /// Resumes the connections whose clients have closed them.
  func releaseDeparted() {
    state.withLock { state in
      state.suspended.removeAll { address in
        guard let connection = OpaquePointer(bitPattern: address) else { return true }
        let socket = quake_mhd_connection_socket(connection)
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
        let isThere = count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR)
        if !isThere { MHD_resume_connection(connection) }
        return !isThere
      }
    }
  }

  /// Resumes all connections. From now on none is suspended.
  func releaseAll() {
    state.withLock { state in
      state.isStopping = true
      for address in state.suspended {
        if let connection = OpaquePointer(bitPattern: address) { MHD_resume_connection(connection) }
      }
      state.suspended = []
    }
  }
}
