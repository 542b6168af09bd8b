import Glibc

/// Connecting to a server on this machine.
enum LocalSocket {
  /// A connection to the unix socket at `path`; nil if no process listens there.
  static func connect(toPath path: String) -> Int32? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array(path.utf8)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    return connect(AF_UNIX, &address)
  }

  /// A connection to a port on 127.0.0.1; nil if no process listens there.
  static func connect(toPort port: Int) -> Int32? {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    return connect(AF_INET, &address)
  }

  private static func connect<Address>(_ family: Int32, _ address: inout Address) -> Int32? {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let length = socklen_t(MemoryLayout<Address>.size)
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, length) == 0
      }
    }
    guard isConnected else {
      close(descriptor)
      return nil
    }
    return descriptor
  }
}
