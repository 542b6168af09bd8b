import Foundation
import Testing

/// A minimal HTTP client.
enum HTTP {
  /// The body of the answer to a request on this machine; its status must be 200.
  static func get(_ target: String, port: Int) throws -> [UInt8] {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(connected == 0)
    let request = Array(
      "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8)
    try #require(send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count)
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      received += buffer[..<count]
    }
    let end = try #require(
      received.indices.first { received[$0...].starts(with: [13, 10, 13, 10]) })
    try #require(String(decoding: received[..<end], as: UTF8.self).hasPrefix("HTTP/1.1 200"))
    return Array(received[(end + 4)...])
  }
}
