import QuakeStore

/// Keeps a copy of the events up to date, from a saved cursor. If the history does not reach back to
/// the cursor, or is another one, replaces the copy by the present events.
func mirror(
  _ database: QuakeDatabase, from saved: HistoryCursor?,
  replaceAll: ([EventRecord], HistoryCursor) async throws -> Void,
  apply: (Change, HistoryCursor) async throws -> Void
) async throws {
  var query = EventQuery()
  query.past = [.superseded, .withdrawn]
  var cursor = saved
  while true {
    if let cursor {
      do {
        for try await change in database.changes(query, after: cursor) {
          try await apply(change, change.cursor)
        }
      } catch let error as StoreError {
        guard case .token = error.kind else { throw error }
      }
    }
    let list = try await database.events(query)
    let start = HistoryCursor(token: list.token)
    try await replaceAll(list.events, start)
    cursor = start
  }
}

/// Reads a cursor from the text that a program has kept.
func cursor(from text: String) throws -> HistoryCursor {
  guard let cursor = HistoryCursor(text) else {
    throw StoreError(.token(.malformed), "\"\(text)\" is not a cursor")
  }
  return cursor
}
