internal import Postgres
internal import QuakeHistory
internal import QuakeModel
internal import QuakeSchema

/// Reads the answer to a query of the history, a page at a time, on demand.
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
    return changes.last.map { ChangeBatch(changes: changes, cursor: $0.cursor) }
  }

  /// Receives the prefetched page, whose statement would keep its snapshot. If the connection is lost, the
  /// next page fails.
  mutating func pause() {
    _ = try? connection.finishPrefetch()
  }
}
