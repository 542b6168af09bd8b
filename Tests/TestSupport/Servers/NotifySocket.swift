import Glibc

/// The service manager's end of sd_notify(3): a datagram socket that a test reads.
public final class NotifySocket {
  /// The value for `NOTIFY_SOCKET`.
  public let name: String
  private let descriptor: Int32
  private let path: String?

  /// Listens at a path, or at an abstract name (`@...`).
  public init(_ name: String) throws {
    self.name = name
    path = name.hasPrefix("@") ? nil : name
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
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
  }

  deinit {
    close(descriptor)
    if let path { unlink(path) }
  }

  /// The next message; nil if none comes within `patience`.
  public func message(within patience: Duration = ToolProcess.patience) -> String? {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let milliseconds =
      patience.components.seconds * 1000
      + patience.components.attoseconds / 1_000_000_000_000_000
    guard poll(&waiting, 1, Int32(milliseconds)) > 0 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
  }

  /// Reads messages until one has this line, and returns that one.
  public func message(
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
