import Glibc

/// A TCP port that takes connections (the kernel does, into the backlog) and never says anything.
final class SilentServer {
  private let socket: Int32
  let port: UInt16

  struct Failure: Error {
    var code: Int32
  }

  init() throws {
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
}

/// A pipe whose reading end is a wake descriptor.
final class Wake {
  let descriptor: Int32
  private let writing: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw SilentServer.Failure(code: errno) }
    descriptor = ends[0]
    writing = ends[1]
  }

  deinit {
    close(descriptor)
    close(writing)
  }

  func ring() {
    var byte: UInt8 = 1
    _ = write(writing, &byte, 1)
  }
}
