import QuakeModel

/// Writes the parts of a stream that are not changes: the events of a snapshot, resets and heartbeats.
///
/// A change is an event without a name, which `EventSource` delivers to `onmessage`; the others have names.
struct StreamBlock {
  private let form: StreamForm
  private var json = JSONWriter()

  init(_ form: StreamForm) {
    self.form = form
  }

  /// A heartbeat: everything up to the token has been delivered. Over a WebSocket it is a ping.
  mutating func heartbeat(_ token: ChangeToken, at time: Timestamp) -> [UInt8] {
    if form == .webSocket {
      return Array("\(token)".utf8).withUnsafeBytes { WebSocketFrame.encode($0, .ping) }
    }
    json.heartbeat(token, at: time)
    return take("event: heartbeat\nid: \(token)\n")
  }

  /// The beginning of a snapshot that the client has asked for.
  mutating func begin(_ token: ChangeToken) -> [UInt8] {
    json.reset(Self.requested, after: .beginning, token: token)
    return take("event: reset\n")
  }

  /// The reason of a reset that begins a snapshot which the client has asked for.
  static let requested = "snapshot"

  /// The beginning of a snapshot that replaces what the client has. It has no id: a client that loses the
  /// connection within the snapshot asks again with the id that it had.
  mutating func reset(
    _ reason: String, after lost: ChangeToken, token: ChangeToken, error: StoreError
  ) -> [UInt8] {
    if form == .webSocket {
      var message = LiveMessage()
      return message.reset(reason, after: lost, token: token)
    }
    json.reset(reason, after: lost, token: token, error: error)
    return take("event: reset\n")
  }

  /// An event of a snapshot; without an id, for the same reason.
  mutating func snapshot(
    _ record: EventRecord, token: ChangeToken, position: Int64
  ) -> [UInt8] {
    json.snapshot(record, token: token, position: position)
    return take("event: snapshot\n")
  }

  private mutating func take(_ fields: String) -> [UInt8] {
    var block: [UInt8] = []
    block.reserveCapacity(json.count + 128)
    if form == .events { block += Array((fields + "data: ").utf8) }
    json.withBytes { block.append(contentsOf: $0) }
    block.append(0x0A)
    if form == .events { block.append(0x0A) }
    json.removeAll()
    return block
  }
}
