internal import Postgres
internal import QuakeHistory
internal import QuakeModel
internal import QuakeSchema

/// Pages of what a request asks of the history, as they are asked for.
struct HistorySource: PullSource {
  private let connection: Connection
  private var reader: HistoryQueryReader
  private var isAtEnd = false

  init(_ request: HistoryQuery, of settings: ConnectionSettings, wake: Int32) throws {
    connection = try Connection(settings, wake: wake)
    connection.interrupt = wake
    try Migrator.checkSchema(of: connection)
    _ = try SessionKind.of(connection) { () throws(PostgresError) in
      try Connection(settings, wake: wake)
    }
    reader = try HistoryQueryReader(request, over: connection)
  }

  mutating func next() throws -> ChangeBatch? {
    var changes: [Change] = []
    while changes.isEmpty, !isAtEnd {
      isAtEnd = try reader.readPage { changes.append($0) }
    }
    return changes.last.map { ChangeBatch(changes: changes, place: $0.place) }
  }

  /// The server must not wait with a page that was asked for ahead. If the connection is lost, the next
  /// page tells.
  mutating func rest() {
    _ = try? connection.finishPrefetch()
  }
}
