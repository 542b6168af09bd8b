/// A Server-Sent Event.
struct ServerSentEvent {
  /// The name; empty for a change.
  var name = ""
  /// The id of this event; nil if it has none.
  var id: String?
  var data: [UInt8] = []
}
