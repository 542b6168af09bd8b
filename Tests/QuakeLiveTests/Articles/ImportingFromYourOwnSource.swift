import QuakeStore

/// Imports the feed of the last day, and one event of our own.
func importAll(into database: QuakeDatabase, feed: String) async throws {
  try await database.importFeed(feed)
  var event = EventRecord()
  event.code = "local1"
  event.time = Timestamp(iso8601: "2026-11-22T10:00:00Z")
  (event.latitude, event.longitude) = (37.5, 143.2)
  event.magnitude = 4.5
  try await database.importEvents(
    [event], named: "bulletin", columns: [.code, .time, .latitude, .longitude, .magnitude]
  ) { $0.author = "alice" }
}

/// Reads a bulletin: a line for each event, with code, origin time, latitude, longitude and magnitude.
func events(ofBulletin text: String) -> [Result<EventRecord, ImportReject>] {
  text.split(separator: "\n").enumerated().map { index, line in
    let fields = line.split(separator: " ").map(String.init)
    guard fields.count == 5, let time = Timestamp(iso8601: fields[1]),
      let latitude = Double(fields[2]), let longitude = Double(fields[3]),
      let magnitude = Double(fields[4])
    else {
      return .failure(
        ImportReject(
          place: "line \(index + 1)", reason: "expected code, time, place and magnitude",
          raw: String(line)))
    }
    var event = EventRecord()
    // A prefix of its own: a code belongs to one source.
    event.code = "bulletin:" + fields[0]
    event.source = "bulletin"
    event.time = time
    (event.latitude, event.longitude) = (latitude, longitude)
    event.magnitude = magnitude
    return .success(event)
  }
}

/// Imports a bulletin in one transaction.
func importBulletin(_ text: String, into database: QuakeDatabase) async throws -> ImportReport {
  try await database.importEvents(
    events(ofBulletin: text), named: "bulletin",
    columns: [.code, .source, .time, .latitude, .longitude, .magnitude])
}
