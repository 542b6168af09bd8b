import Foundation
import Testing

/// A port of this machine that no program listens on. While this object lives, the system gives the port to no
/// program that asks for any free one. A program that is told the number and sets `SO_REUSEADDR` can listen on it.
final class ReservedPort {
  let number: Int
  private let descriptor: Int32

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var on: Int32 = 1
    setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let reserved = descriptor
    let isKnown = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(reserved, $0, length) == 0 && getsockname(reserved, $0, &length) == 0
      }
    }
    try #require(isKnown)
    number = Int(in_port_t(bigEndian: address.sin_port))
  }

  deinit { close(descriptor) }
}
