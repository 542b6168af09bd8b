import Basics

/// The limits and times of the streams.
struct StreamSettings: Sendable {
  /// The longest time between two messages to a client: after it, a heartbeat is sent.
  var heartbeat = Duration.seconds(30)
  /// After how long a client that reads nothing is dropped.
  var stallLimit = Duration.seconds(30)
  /// How many bytes of changes are kept in memory for clients that are behind.
  var windowSize = 16 << 20
  /// The most bytes that the system keeps for a client; Linux doubles the number.
  var socketBuffer = 128 << 10
  /// The most bytes of a backlog; a client that needs more gets several.
  var backlogSize = 64 << 20
  /// How long the history is read for a backlog in one piece.
  var backlogTime = Duration.seconds(5)

  /// How often the clients are looked at for heartbeats, in milliseconds.
  var beatInterval: Int64 { max(1, min(1000, heartbeat.wholeMilliseconds / 4)) }
}
