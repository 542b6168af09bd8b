import CommandLine
import ExplainedErrors
import Postgres
import QuakeFeed
import QuakeHistory
import QuakeSchema
import QuakeTool
import QuakeWorker

/// A connection over which no worker can work, however long it waits.
struct UnfitConnection: ExplainedError {
  let message: String
  let hint: String?
  var category: ErrorCategory { .notAllowed }
}

extension DatabaseAccess {
  /// Makes a connection ready for a worker that holds locks and is waited for by others: the schema is
  /// right, the session its own, the feeds known, and the bell for requests heard.
  func prepareForWorker(
    _ connection: Connection, feeds: [PolledFeed], _ diagnostics: Diagnostics
  ) throws {
    try Migrator.checkSchema(of: connection)
    let session = try SessionKind.of(connection) { () throws(PostgresError) in
      try Connection(settings, wake: Signals.wakeDescriptor)
    }
    switch session {
    case .direct: break
    case .standby:
      throw UnfitConnection(
        message: "the database is a hot standby: nothing can be imported there",
        hint:
          "Name the primary; target_session_attrs=read-write in a URL with several hosts finds it."
      )
    case .pooled:
      throw UnfitConnection(
        message: """
          behind a pooler that lends sessions for a transaction a worker cannot hold the locks of its \
          feeds
          """,
        hint: "Connect to the server itself, or to a pool in session mode.")
    }
    try watchOverClient(connection)
    let addresses = feeds.map { (name: $0.name, url: $0.url) }
    try FeedState.register(addresses, over: connection)
    for other in try FeedState.polledElsewhere(addresses, over: connection) {
      diagnostics.warning(
        "feed \"\(other.name)\" is polled by another worker at another address: \(FeedURL(other.url))",
        hint: "The two count as one feed; this worker stands by for it.")
    }
    try RefreshQueue.listen(over: connection)
  }
  /// Has the server find out within a statement, too, that a worker was killed, and free what it held.
  /// Servers before version 14, and those on some systems, cannot: they find out at its end.
  private func watchOverClient(_ connection: Connection) throws(PostgresError) {
    do throws(PostgresError) {
      try connection.execute("set client_connection_check_interval = '1s'")
    } catch {
      guard error.kind == .server, !error.isConnectionLoss else { throw error }
    }
  }
}
