import QuakeStore

/// A bulletin: a line for each event, with code, origin time and magnitude.
struct Bulletin: ImportSource {
  let columns: [QuakeColumn] = [.code, .source, .time, .magnitude]
  let format = "bulletin"
  let generated: Timestamp? = nil
  private(set) var bytesRead: Int64 = 0
  private var lines: ArraySlice<Substring>
  private var number = 0

  init(_ text: String) {
    lines = text.split(separator: "\n")[...]
  }

  mutating func next(into record: inout QuakeRecord) throws -> ImportItem? {
    guard let line = lines.popFirst() else { return nil }
    number += 1
    bytesRead += Int64(line.utf8.count + 1)
    let fields = line.split(separator: " ").map(String.init)
    guard fields.count == 3, let time = Timestamp(iso8601: fields[1]),
      let magnitude = Double(fields[2])
    else {
      return .reject(
        ImportReject(
          place: "line \(number)", reason: "expected code, time, magnitude", raw: String(line)))
    }
    record.removeAll()
    // A prefix of its own: a code belongs to one source.
    record.set(.code, "bulletin:" + fields[0])
    record.set(.source, "bulletin")
    record.set(.time, time)
    record.set(.magnitude, magnitude)
    return .record
  }
}

/// Imports a bulletin in one transaction.
func importBulletin(_ text: String, over connection: Connection) throws -> ImportReport {
  var source = Bulletin(text)
  let options = ImportOptions(
    source: "bulletin.txt", feed: "bulletin", program: "map 1.0", author: "map")
  return try Importer(connection: connection, options: options).run(from: &source)
}

/// Imports the feed of the last day, and one event of our own.
func importAll(into database: QuakeDatabase, feed: FeedReference) async throws {
  try await database.importQuakes(from: feed)
  var quake = QuakeRecord()
  quake.code = "local1"
  quake.time = Timestamp(iso8601: "2026-11-22T10:00:00Z")
  (quake.latitude, quake.longitude) = (37.5, 143.2)
  quake.magnitude = 4.5
  let quakes = AsyncStream { [quake] in
    $0.yield(quake)
    $0.finish()
  }
  try await database.importQuakes(
    from: quakes, named: "bulletin", columns: [.code, .time, .latitude, .longitude, .magnitude]
  ) { $0.author = "alice" }
}
