/// Figures about the streams, for the metrics.
struct StreamStatistics: Sendable {
  /// Clients now.
  var clients = 0
  /// How many of them wait for a backlog or for the database.
  var waiting = 0
  /// How many of them have a full socket.
  var blocked = 0
  /// Different filters.
  var filters = 0
  /// Clients since the start.
  var opened = 0
  /// Clients dropped because they fell behind the changes that are kept in memory.
  var droppedBehind = 0
  /// Clients dropped because they did not read for too long.
  var droppedStalled = 0
  /// Snapshots sent to clients because their cursors were invalid.
  var resets = 0
  /// Backlogs read from the database.
  var backlogs = 0
  /// Changes published to the clients, before filters.
  var changes = 0
  /// Bytes handed to sockets.
  var bytes = 0
  /// Bytes of encoded changes in memory.
  var windowBytes = 0
  /// Heartbeats sent.
  var heartbeats = 0
}
