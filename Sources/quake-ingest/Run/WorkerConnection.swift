import Basics
import CommandLine
import Postgres
import QuakeFeed
import QuakeHistory
import QuakeTool
import QuakeWorker

/// The error of a connection that can never serve a worker, such as one to a hot standby.
struct UnfitConnection: ExplainedError {
  let message: String
  let hint: String?
  var category: ErrorCategory { .notAllowed }
}

extension DatabaseAccess {
  /// Prepares a connection for a worker: checks the schema and that the connection is direct, registers the
  /// feeds, and listens for refresh requests.
  func prepareForWorker(
    _ connection: Connection, feeds: [PolledFeed], _ diagnostics: Diagnostics
  ) throws {
    try checkSchema(of: connection)
    let session = try SessionKind.of(connection) { () throws(PostgresError) in
      try Connection(settings, wake: Signals.wakeDescriptor)
    }
    switch session {
    case .direct: break
    case .standby:
      throw UnfitConnection(
        message: "cannot import into a hot standby",
        hint:
          "Name the primary; target_session_attrs=read-write in a URL with several hosts finds it."
      )
    case .pooled:
      throw UnfitConnection(
        message: """
          cannot hold the locks of feeds over a pooler in transaction mode
          """,
        hint: "Connect to the server itself, or to a pool in session mode.")
    }
    try watchOverClient(connection)
    let addresses = feeds.map { (name: $0.name, url: $0.url) }
    try FeedState.register(addresses, over: connection)
    for other in try FeedState.polledElsewhere(addresses, over: connection) {
      diagnostics.warning(
        "feed \"\(other.name)\" is polled by another worker at another address: \(FeedURL(other.url))",
        hint: "Both count as one feed; this worker is its standby.")
    }
    try RefreshQueue.listen(over: connection)
  }
  /// Makes the server check during a statement whether the worker still exists, so that the locks of a killed
  /// worker are freed at once. Servers before version 14, and those on some systems, check only at the end of
  /// the statement.
  private func watchOverClient(_ connection: Connection) throws(PostgresError) {
    do throws(PostgresError) {
      try connection.execute("set client_connection_check_interval = '1s'")
    } catch {
      guard error.kind == .server, !error.isConnectionLoss else { throw error }
    }
  }
}
