import CMicrohttpd
import Synchronization

/// The connections that libmicrohttpd leaves alone until they are resumed.
///
/// Each is resumed once: when its answer is made, when its stream ends, or when the server stops.
final class SuspendedConnections: Sendable {
  private struct State {
    var connections: Set<UInt> = []
    var isStopping = false
  }

  private let state = Mutex(State())

  /// Suspends a connection, from a callback of it; false if the server stops.
  func suspend(_ connection: OpaquePointer) -> Bool {
    state.withLock { state in
      guard !state.isStopping else { return false }
      state.connections.insert(UInt(bitPattern: connection))
      MHD_suspend_connection(connection)
      return true
    }
  }

  /// Resumes a connection, unless that has been done.
  func resume(_ connection: UInt) {
    state.withLock { state in
      guard state.connections.remove(connection) != nil else { return }
      MHD_resume_connection(OpaquePointer(bitPattern: connection))
    }
  }

  /// Resumes all; no further connection can be suspended.
  func resumeAll() {
    state.withLock { state in
      state.isStopping = true
      for connection in state.connections {
        MHD_resume_connection(OpaquePointer(bitPattern: connection))
      }
      state.connections = []
    }
  }
}
