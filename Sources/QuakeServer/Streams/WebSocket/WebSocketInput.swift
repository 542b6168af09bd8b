import CLibcrypto
import CWslay

/// The input from a client of a WebSocket: libwslay reads its frames, and answers pings and the close frame.
///
/// Messages of the client have no meaning and are dropped. Only the thread of the streams uses it.
final class WebSocketInput {
  private var context: wslay_event_context_ptr?
  private var input: [UInt8] = []
  private var taken = 0
  private var output: [UInt8] = []

  /// The longest message that a client may send, in bytes.
  private static let longestMessage: UInt64 = 64 << 10

  init() {
    var callbacks = wslay_event_callbacks()
    callbacks.recv_callback = { context, buffer, size, _, input in
      guard let buffer, let input else { return -1 }
      let count = Unmanaged<WebSocketInput>.fromOpaque(input).takeUnretainedValue()
        .take(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
      if count == 0 {
        wslay_event_set_error(context, Int32(WSLAY_ERR_WOULDBLOCK.rawValue))
        return -1
      }
      return count
    }
    callbacks.send_callback = { _, data, size, _, input in
      guard let data, let input else { return -1 }
      Unmanaged<WebSocketInput>.fromOpaque(input).takeUnretainedValue().output.append(
        contentsOf: UnsafeRawBufferPointer(start: data, count: size))
      return size
    }
    // The context does not keep this object alive; deinit frees it.
    wslay_event_context_server_init(
      &context, &callbacks, Unmanaged.passUnretained(self).toOpaque())
    // A message that arrives in parts is not collected.
    wslay_event_config_set_no_buffering(context, 1)
    wslay_event_config_set_max_recv_msg_length(context, Self.longestMessage)
  }

  deinit {
    wslay_event_context_free(context)
  }

  private func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(buffer.count, input.count - taken)
    input.withUnsafeBytes { bytes in
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[taken..<taken + count]))
    }
    taken += count
    return count
  }

  /// Takes in bytes of the client.
  ///
  /// - Returns: Whether the connection goes on; if not, it ends after `takeOutput`.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    input.append(contentsOf: bytes)
    let status = wslay_event_recv(context)
    input.removeFirst(taken)
    taken = 0
    send()
    return status == 0 && wslay_event_want_read(context) != 0
  }

  /// Tells the client that the server ends.
  func close() {
    wslay_event_queue_close(context, UInt16(WSLAY_CODE_GOING_AWAY.rawValue), nil, 0)
    send()
  }

  private func send() {
    while wslay_event_want_write(context) != 0, wslay_event_send(context) == 0 {}
  }

  /// The frames with which the client is answered.
  func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }
}

/// Encodes frames of the WebSocket protocol (RFC 6455), with libwslay.
struct WebSocketFrame {
  enum Kind {
    case text
    case ping

    var opcode: UInt8 {
      switch self {
      case .text: UInt8(WSLAY_TEXT_FRAME.rawValue)
      case .ping: UInt8(WSLAY_PING.rawValue)
      }
    }
  }

  /// The buffer to which the callback of the library appends.
  private final class Output {
    var bytes: [UInt8] = []
  }

  static func encode(_ message: UnsafeRawBufferPointer, _ kind: Kind) -> [UInt8] {
    let output = Output()
    output.bytes.reserveCapacity(message.count + 10)
    var callbacks = wslay_frame_callbacks()
    callbacks.send_callback = { data, size, _, output in
      guard let data, let output else { return -1 }
      Unmanaged<Output>.fromOpaque(output).takeUnretainedValue().bytes.append(
        contentsOf: UnsafeRawBufferPointer(start: data, count: size))
      return size
    }
    var context: wslay_frame_context_ptr?
    guard
      wslay_frame_context_init(&context, &callbacks, Unmanaged.passUnretained(output).toOpaque())
        == 0
    else { return [] }
    defer { wslay_frame_context_free(context) }
    var sent = 0
    repeat {
      var frame = wslay_frame_iocb()
      frame.fin = 1
      frame.opcode = kind.opcode
      frame.payload_length = UInt64(message.count)
      frame.data = message.baseAddress.map {
        ($0 + sent).assumingMemoryBound(to: UInt8.self)
      }
      frame.data_length = message.count - sent
      let count = wslay_frame_send(context, &frame)
      guard count >= 0 else { return [] }
      sent += count
    } while sent < message.count
    return output.bytes
  }

  /// The size of the frame that begins with these bytes; nil if they are too few to tell.
  static func size(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard bytes.count >= 2 else { return nil }
    let short = Int(bytes[1] & 0x7F)
    let digits = short == 126 ? 2 : short == 127 ? 8 : 0
    guard digits > 0 else { return 2 + short }
    guard bytes.count >= 2 + digits else { return nil }
    return bytes[2..<2 + digits].reduce(0) { $0 << 8 | Int($1) } + 2 + digits
  }
}

/// The request that changes a connection to the WebSocket protocol (RFC 6455, section 4).
enum WebSocketHandshake {
  /// The header fields of the answer, status 101.
  ///
  /// - Throws: `HTTPError` 400 if the request is not one for a WebSocket.
  static func answer(_ request: Request) throws(HTTPError) -> HeaderFields {
    let upgrade = words(request.headers.list("upgrade"))
    let connection = words(request.headers.list("connection"))
    guard upgrade.contains("websocket"), connection.contains("upgrade") else {
      throw HTTPError(
        400,
        "This address speaks the WebSocket protocol. The same changes come as Server-Sent Events from /v1/changes.",
        ["Upgrade": "websocket"])
    }
    guard request.headers["sec-websocket-version"] == "13" else {
      throw HTTPError(
        400, "The server speaks version 13 of the WebSocket protocol.",
        ["Sec-WebSocket-Version": "13"])
    }
    guard let key = request.headers["sec-websocket-key"], key.utf8.count == 24,
      key.hasSuffix("=="),
      key.utf8.dropLast(2).allSatisfy({ letters.contains($0) })
    else {
      throw HTTPError(400, "The header Sec-WebSocket-Key is not 16 bytes in base64.")
    }
    return ["Upgrade": "websocket", "Sec-WebSocket-Accept": accept(key)]
  }

  private static func words(_ list: String?) -> [String] {
    (list ?? "").lowercased().split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
  }

  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The proof that the server has read the key: the protocol prescribes SHA-1 and this text.
  static func accept(_ key: String) -> String {
    let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    SHA1(text, text.count, &digest)
    // In base64: four letters for three bytes, and a NUL.
    var proof = [UInt8](repeating: 0, count: 29)
    let count = EVP_EncodeBlock(&proof, digest, Int32(digest.count))
    return String(decoding: proof.prefix(Int(count)), as: UTF8.self)
  }
}
