import CWslay

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

  /// The frame with a message.
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
