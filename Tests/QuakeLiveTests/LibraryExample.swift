import QuakeLive
import QuakeModel

/// Handles the changes of strong events after a cursor. Store `change.cursor` together with the result of
/// the change, and the program can resume from there.
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
    update.difference.apply(to: &rows) { update.quakes[$0].text(.place) ?? "" }
    try await draw(rows)
  }
}
