import Glibc

/// One end of a connection in PostgreSQL's protocol, version 3: messages of a type, a length and a body.
public struct PostgresWire: Sendable {
  /// The socket.
  public let descriptor: Int32

  /// An end over a socket, which the caller closes.
  public init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// A message.
  public struct Message: Sendable {
    /// Its type, such as `D` for a row.
    public var type: UInt8
    /// The bytes after its length.
    public var body: [UInt8]

    /// A message.
    public init(_ type: Character, _ body: [UInt8] = []) {
      self.type = type.asciiValue ?? 0
      self.body = body
    }

    /// Its bytes on the wire; with a wrong length if one is given.
    public func bytes(length: Int32? = nil) -> [UInt8] {
      [type] + PostgresWire.int32(length ?? Int32(body.count + 4)) + body
    }
  }

  /// Big-endian bytes.
  public static func int32(_ value: Int32) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  /// Big-endian bytes.
  public static func int16(_ value: Int16) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  /// A text with its final NUL.
  public static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

  /// Sends bytes; false: the other end is gone.
  @discardableResult
  public func send(_ bytes: [UInt8]) -> Bool {
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

  /// Sends the same bytes again and again until the other end is gone. In between it waits for that end, at most a
  /// millisecond, which leaves the processor to other tests.
  public func sendWithoutEnd(_ bytes: [UInt8]) {
    // Hanging up and errors are reported without being asked for.
    var end = pollfd(fd: descriptor, events: 0, revents: 0)
    while send(bytes), poll(&end, 1, 1) == 0 {}
  }

  /// Sends a message; false: the other end is gone.
  @discardableResult
  public func send(_ message: Message) -> Bool { send(message.bytes()) }

  /// The next bytes; nil: the other end has closed the connection.
  public func take(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var length = 0
    while length < count {
      let received = bytes.withUnsafeMutableBytes {
        recv(descriptor, $0.baseAddress.map { $0 + length }, count - length, 0)
      }
      guard received > 0 else { return nil }
      length += received
    }
    return bytes
  }

  private func takeLength() -> Int? {
    guard let bytes = take(4) else { return nil }
    return bytes.reduce(0) { $0 << 8 | Int($1) }
  }

  /// The next message; nil: the other end is gone.
  public func receive() -> Message? {
    guard let type = take(1), let length = takeLength(), length >= 4, let body = take(length - 4)
    else { return nil }
    var message = Message(" ", body)
    message.type = type[0]
    return message
  }

  /// The first packet of a client, which has no type; nil: the client is gone, or the packet is
  /// invalid.
  public func receiveStartup() -> [UInt8]? {
    guard let length = takeLength(), length >= 8 else { return nil }
    return take(length - 4)
  }
}
