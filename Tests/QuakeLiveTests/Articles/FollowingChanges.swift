import QuakeStore

/// Handles each strong event's changes, beginning after a cursor.
func follow(
  _ database: QuakeDatabase, after cursor: HistoryCursor, handle: (Change) async throws -> Void
) async throws {
  var filter = QuakeFilter()
  filter.minimumMagnitude = 6
  for try await change in database.changes(after: cursor, filter: filter) {
    try await handle(change)
  }
}

/// Keeps rows of the events up to date, largest first.
func show(_ database: QuakeDatabase, draw: ([String]) async throws -> Void) async throws {
  var rows: [String] = []
  for try await update in database.liveQuakes(order: .magnitudeDescending) {
    update.difference.apply(to: &rows) { update.quakes[$0].place ?? "" }
    try await draw(rows)
  }
}

/// Calls `handle` with the changes of other authors, a page at a time.
func followOthers(
  _ database: QuakeDatabase, handle: ([Change]) async throws -> Void
) async throws {
  var filter = QuakeFilter()
  filter.excludedAuthors = ["map"]
  for try await batch in database.changes(filter: filter).batches {
    try await handle(batch.changes)
  }
}

/// The transactions of an import: who changed how many events.
func authors(
  in database: QuakeDatabase, after token: ChangeToken
) async throws -> [String] {
  var query = HistoryQuery()
  query.after = .token(token)
  var authors: [String] = []
  for try await entry in database.history(query).transactions {
    authors.append("\(entry.transaction.author ?? "unknown"): \(entry.changes.count)")
  }
  return authors
}
