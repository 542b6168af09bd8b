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
