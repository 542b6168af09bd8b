import Glibc

/// A listening socket on 127.0.0.1.
struct LoopbackSocket {
  let descriptor: Int32
  /// The port, also where any was asked for.
  let port: Int

  /// Listens on `port`, or on any that is free where it is 0.
  init(port: Int) throws(SimulatorError) {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_INET, kind, 0)
    guard descriptor >= 0 else { throw Self.error(errno, port) }
    var one: Int32 = 1
    // A restart must not wait for the old connections' ends.
    setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 && listen(descriptor, 128) == 0
          && getsockname(descriptor, address, &length) == 0
      }
    }
    guard listening else {
      let code = errno
      close(descriptor)
      throw Self.error(code, port)
    }
    self.descriptor = descriptor
    self.port = Int(in_port_t(bigEndian: address.sin_port))
  }

  private static func error(_ code: Int32, _ port: Int) -> SimulatorError {
    let hint =
      switch code {
      case EADDRINUSE: "Choose another port, or 0 for any that is free."
      case EACCES: "Ports below 1024 need privileges: choose a higher one."
      default: nil as String?
      }
    let reason = String(cString: strerror(code))
    return SimulatorError(
      .portUnavailable, "could not listen on 127.0.0.1 port \(port): \(reason)",
      detail: code == EADDRINUSE ? "Another program listens there." : nil, hint: hint)
  }
}
