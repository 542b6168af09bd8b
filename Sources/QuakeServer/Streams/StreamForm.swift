/// How a stream of changes is written.
enum StreamForm: UInt8, Hashable, Sendable {
  /// Server-Sent Events.
  case events
  /// One JSON object a line.
  case lines
  /// Frames of a WebSocket, in the form of EMSC's live feed.
  case webSocket

  var contentType: String {
    switch self {
    case .events: "text/event-stream; charset=utf-8"
    case .lines: "application/x-ndjson"
    // A connection that has changed to another protocol has none.
    case .webSocket: ""
    }
  }
}
