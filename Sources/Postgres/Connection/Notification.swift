/// A notification on a channel that the connection listens to.
public struct Notification: Sendable {
  /// The channel's name.
  public let channel: String
  /// The payload. Every role that may connect can send one, so never trust its content.
  public let payload: String
  /// Process id of the server process that sent the notification.
  public let processID: Int32
}
