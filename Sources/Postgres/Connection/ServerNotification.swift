/// A notification on a channel that the connection listens to.
package struct ServerNotification: Sendable {
  /// The channel's name.
  package let channel: String
  /// The payload. Every role that may connect can send one, so never trust its content.
  package let payload: String
  /// Process id of the server process that sent the notification.
  package let processID: Int32
}
