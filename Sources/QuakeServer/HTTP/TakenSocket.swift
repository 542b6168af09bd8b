/// A socket taken from the HTTP library to write a body without an end.
///
/// The owner writes to `descriptor`, which does not block, and calls `end` exactly once when it is done. That
/// hands the socket back to the library, which closes it. `end` may be called on any thread.
struct TakenSocket: Sendable {
  let descriptor: Int32
  /// Bytes that the client sent after its request and the library has read already; only after an upgrade.
  var received: [UInt8] = []
  let end: @Sendable () -> Void
}
