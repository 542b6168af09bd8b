import Glibc

/// A TCP port that accepts connections (the kernel queues them) and never sends anything.
public final class SilentServer {
  private let socket: Int32
  /// The port, on 127.0.0.1.
  public let port: UInt16

  /// A failed system call.
  public struct Failure: Error {
    /// Its error number.
    public var code: Int32

    /// A failure with the system's error number.
    public init(code: Int32) {
      self.code = code
    }
  }

  /// Opens a port.
  public init() throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = socket
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        bind(socket, generic, length) == 0 && listen(socket, 8) == 0
          && getsockname(socket, generic, &length) == 0
      }
    }
    guard status else { throw Failure(code: errno) }
    port = UInt16(bigEndian: address.sin_port)
  }

  deinit {
    close(socket)
  }

  /// Waits for a client to connect, at most 20 seconds; false: none came.
  public func waitForClient() -> Bool {
    var listening = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&listening, 1, 20_000) == 1
  }
}
