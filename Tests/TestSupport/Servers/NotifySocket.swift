import Glibc
import Synchronization

/// The service manager's end of sd_notify(3): a datagram socket. A thread reads it at once, as a service manager
/// does: the kernel holds ten messages, and then a program waits and drops its next one.
package final class NotifySocket {
  /// The value for `NOTIFY_SOCKET`.
  package let name: String
  private let descriptor: Int32
  private let path: String?
  private let received = Received()
  private let reader: BackgroundThread

  private final class Received: Sendable {
    private let messages = Mutex<[String]>([])

    /// The next message, of those that have arrived at this moment.
    func next(of descriptor: Int32) -> String? {
      messages.withLock { messages in
        Self.read(descriptor, into: &messages)
        return messages.isEmpty ? nil : messages.removeFirst()
      }
    }

    func read(_ descriptor: Int32) {
      messages.withLock { Self.read(descriptor, into: &$0) }
    }

    private static func read(_ descriptor: Int32, into messages: inout [String]) {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count > 0 else { return }
        messages.append(String(decoding: buffer[..<count], as: UTF8.self))
      }
    }
  }

  /// Listens at a path, or at an abstract name (`@...`).
  package init(_ name: String) throws {
    self.name = name
    path = name.hasPrefix("@") ? nil : name
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    if path == nil { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    guard descriptor >= 0, bound == 0 else {
      throw ToolProcess.Failure(
        description: "could not listen at \(name): \(String(cString: strerror(errno)))")
    }
    self.descriptor = descriptor
    let received = received
    reader = BackgroundThread {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      while waiting.revents & Int16(POLLHUP) == 0 {
        guard poll(&waiting, 1, -1) > 0 else { continue }
        received.read(descriptor)
      }
    }
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    try? reader.join()
    close(descriptor)
    if let path { unlink(path) }
  }

  /// The next message; nil if none comes within `patience`.
  package func message(within patience: Duration = ToolProcess.patience) -> String? {
    var message: String?
    try? eventually("a message to the service manager", within: patience) {
      message = received.next(of: descriptor)
      return message != nil
    }
    return message
  }

  /// Reads messages until one has this line, and returns that one.
  package func message(
    with line: String, within patience: Duration = ToolProcess.patience
  ) throws -> String {
    let deadline = ContinuousClock.now + patience
    var seen: [String] = []
    while ContinuousClock.now < deadline {
      guard let message = message(within: max(.zero, deadline - .now)) else { break }
      if message.split(separator: "\n").contains(where: { $0 == line }) { return message }
      seen.append(message)
    }
    throw ToolProcess.Failure(description: "timed out waiting for \(line); received \(seen)")
  }
}
