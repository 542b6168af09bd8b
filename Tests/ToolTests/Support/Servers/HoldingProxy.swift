import Glibc
import TestSupport

/// A proxy in front of PostgreSQL that can hold an answer back: before it passes on a message of the server, it calls
/// a closure with the type of the message.
final class HoldingProxy: Sendable {
  private let listener: Int32
  private let port: Int

  /// A proxy in front of the Unix socket at `path`.
  init(to path: String, _ hold: @escaping @Sendable (_ type: UInt8) -> Void) throws {
    (listener, port) = try LocalSocket.listen()
    BackgroundThread.detach { [listener] in
      // Closed here and not at the end of the proxy: until then no other socket gets this descriptor.
      defer { close(listener) }
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        BackgroundThread.detach { Self.serve(client, path, hold) }
      }
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  /// The connection string of a database behind the proxy.
  func conninfo(database: String) -> String {
    "host=127.0.0.1 port=\(port) dbname=\(database) user=quake sslmode=disable gssencmode=disable"
  }

  private static func serve(_ client: Int32, _ path: String, _ hold: (UInt8) -> Void) {
    defer { close(client) }
    guard let server = LocalSocket.connect(toPath: path) else { return }
    defer { close(server) }
    let thread = BackgroundThread {
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = recv(client, &bytes, bytes.count, 0)
        guard count > 0, send(Array(bytes[..<count]), to: server) else { break }
      }
      shutdown(server, Int32(SHUT_RDWR))
    }
    // A message has a type and a length, which includes itself.
    while let head = receive(5, from: server) {
      hold(head[0])
      let length = head[1...].reduce(0) { $0 << 8 | Int($1) }
      guard length >= 4, let body = receive(length - 4, from: server), send(head + body, to: client)
      else { break }
    }
    shutdown(client, Int32(SHUT_RDWR))
    shutdown(server, Int32(SHUT_RDWR))
    try? thread.join()
  }

  private static func receive(_ count: Int, from descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    guard count > 0 else { return bytes }
    return recv(descriptor, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
  }

  private static func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }
}
