/// A NOTIFY that arrived on a channel the connection listens to.
public struct Notification: Sendable {
  /// The channel's name.
  public let channel: String
  /// What was sent with it. Any database user can notify: never trust it for content.
  public let payload: String
  /// Process id of the server process that notified.
  public let processID: Int32
}
