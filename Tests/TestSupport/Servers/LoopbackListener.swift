import Glibc

/// A listening socket on 127.0.0.1.
package enum LoopbackListener {
  /// Opens one on a free port.
  package static func open() throws -> (descriptor: Int32, port: Int) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listens = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, $0, &length) == 0
      }
    }
    guard listens else {
      throw ToolProcess.Failure(
        description: "could not listen: \(String(cString: strerror(errno)))")
    }
    return (listener, Int(UInt16(bigEndian: address.sin_port)))
  }
}
