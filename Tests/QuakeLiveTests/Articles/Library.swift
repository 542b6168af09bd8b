import QuakeStore

/// Stores the earthquakes of the last month, and prints the strong ones again whenever one of them changes.
func printStrongEvents() async throws {
  let database = QuakeDatabase("postgresql://localhost/quake", applicationName: "map")
  try await database.migrate(as: "map 1.0")
  try await database.importFeed("all_month")
  for try await update in database.live(EventQuery(where: .magnitude >= 6)) {
    for event in update.events { print(event.magnitude ?? 0, event.place ?? "somewhere") }
  }
}
