import Glibc

/// A TCP port that accepts connections (the kernel queues them) and never sends anything.
package final class SilentServer {
  private let socket: Int32
  /// The port, on 127.0.0.1.
  package let port: Int

  /// Opens a port.
  package init() throws {
    (socket, port) = try LocalSocket.listen()
  }

  deinit {
    close(socket)
  }

  /// Waits for a client to connect, at most for `ToolProcess.patience`; false: none came.
  package func waitForClient() -> Bool {
    var listening = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&listening, 1, Int32(ToolProcess.patience / .milliseconds(1))) == 1
  }
}
