import Glibc

/// Sockets of this machine.
package enum LocalSocket {
  /// The address 127.0.0.1.
  package static let loopback: UInt32 = 0x7F00_0001

  /// A connection to the unix socket at `path`; nil if no process listens there.
  package static func connect(toPath path: String) -> Int32? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array(path.utf8)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    return connect(AF_UNIX, &address)
  }

  /// A connection to a port on 127.0.0.1; nil if no process listens there.
  package static func connect(toPort port: Int) -> Int32? {
    var address = address(loopback, port)
    return connect(AF_INET, &address)
  }

  /// A connection to a port on ::1; nil if no process listens there, or the machine has no IPv6.
  package static func connect(toPort6 port: Int) -> Int32? {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = UInt16(port).bigEndian
    address.sin6_addr = in6addr_loopback
    return connect(AF_INET6, &address)
  }

  /// A socket that has a port and does not listen.
  ///
  /// - Parameters:
  ///   - port: 0: any that is free.
  ///   - host: Its address; 0 is every address of this machine.
  ///   - reuses: Whether ended connections do not keep the port.
  package static func bind(
    port: Int = 0, host: UInt32 = loopback, reuses: Bool = false
  ) throws -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var on: Int32 = reuses ? 1 : 0
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = address(host, port)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw ToolProcess.Failure(description: "could not take port \(port): \(reason)")
    }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// A listening socket on a free port.
  package static func listen(host: UInt32 = loopback) throws -> (descriptor: Int32, port: Int) {
    let bound = try bind(host: host)
    guard Glibc.listen(bound.descriptor, 64) == 0 else {
      throw ToolProcess.Failure(
        description: "could not listen: \(String(cString: strerror(errno)))")
    }
    return bound
  }

  private static func address(_ host: UInt32, _ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr = in_addr(s_addr: host.bigEndian)
    return address
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
