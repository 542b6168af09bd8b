import Postgres
import QuakeHistory
import QuakeModel

/// The history in a database, over the connection that there is at the moment.
final class DatabaseSource: ChangeSource {
  let follower: HistoryFollower
  private var connection: Connection?

  init(_ follower: HistoryFollower) {
    self.follower = follower
  }

  /// Takes a connection.
  func connect(over connection: Connection) throws(PostgresError) {
    self.connection = connection
    try follower.connect(over: connection)
  }

  /// Forgets the connection, but not the cursor.
  func disconnect() {
    connection = nil
    follower.disconnect()
  }

  /// The connection.
  func connected() throws(StoreError) -> Connection {
    guard let connection else {
      throw StoreError(.inconsistent, "the history was read without a connection")
    }
    return connection
  }

  var cursor: HistoryCursor? { follower.cursor }

  func begin(after cursor: HistoryCursor) throws { try follower.begin(after: cursor) }

  func resume() throws { try follower.resume() }

  func newestCursor() throws -> HistoryCursor {
    HistoryCursor(token: try HistoryReader.latestToken(over: try connected()))
  }

  func token(at time: Timestamp) throws -> ChangeToken {
    try HistoryBound.time(time).resolve(over: try connected())
  }

  func oldestToken() throws -> ChangeToken {
    try HistoryBound.oldest.resolve(over: try connected())
  }

  func verify(_ token: ChangeToken) throws {
    _ = try HistoryBound.token(token).resolve(over: try connected())
  }

  /// Call it while the follower does not listen: a listener inside a transaction pins the server's
  /// notification queue.
  func readSnapshot(
    begin: (ChangeToken) throws -> Void, _ body: (QuakeRecord) throws -> Void
  ) throws {
    try Snapshot.read(over: try connected(), begin: begin, body)
  }

  func readPage(_ body: (Change) throws -> Void) throws -> Bool { try follower.readPage(body) }
}
