import QuakeStore

/// Handles each strong event's changes, beginning after a cursor.
func follow(
  _ database: QuakeDatabase, after cursor: HistoryCursor, handle: (Change) async throws -> Void
) async throws {
  let strong = EventQuery(where: .magnitude >= 6)
  for try await change in database.changes(strong, after: cursor) {
    try await handle(change)
  }
}

/// Tells of each strong earthquake, and of what becomes of it.
func alert(
  _ database: QuakeDatabase, send: (_ text: String, _ id: String) async throws -> Void
) async throws {
  var rule = AlertRule()
  rule.filter.minimumMagnitude = 6
  for try await alert in database.alerts(rule, named: "duty") {
    try await send(alert.text, alert.id)
  }
}

/// Keeps rows of the events up to date, greatest magnitude first.
func show(_ database: QuakeDatabase, draw: ([String]) async throws -> Void) async throws {
  var query = EventQuery()
  query.order = [.greatestFirst]
  var rows: [String] = []
  for try await update in database.live(query) {
    update.difference.apply(to: &rows) { update.events[$0].place ?? "" }
    try await draw(rows)
  }
}

/// Calls `handle` with the changes of other authors, a page at a time.
func followOthers(
  _ database: QuakeDatabase, handle: ([Change]) async throws -> Void
) async throws {
  var query = EventQuery()
  query.filter.excludedAuthors = ["map"]
  for try await batch in database.changes(query).batches {
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

/// The magnitudes that an event has had, and the one that it had at a point of the history.
func magnitudes(
  of id: String, in database: QuakeDatabase, at token: ChangeToken
) async throws -> (all: [Double?], then: Double?) {
  let versions = try await database.versions(of: id)
  let event = try await database.event(id, asOf: .token(token))
  return (versions.map { $0.new?.magnitude }, event?.magnitude)
}
