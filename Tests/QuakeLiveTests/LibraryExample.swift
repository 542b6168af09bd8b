import QuakeLive
import QuakeModel

/// Handles each strong event's changes, from a place on; keep `change.place` with what you made of
/// the change, and you can go on from there another time.
func follow(
  _ database: QuakeDatabase, after place: HistoryCursor, handle: (Change) async throws -> Void
) async throws {
  var filter = QuakeFilter()
  filter.minimumMagnitude = 6
  for try await change in database.changes(after: place, filter: filter) {
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
