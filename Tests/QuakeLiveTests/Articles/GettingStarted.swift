import Foundation
import QuakeStore

/// Opens a database that exists, and applies the migrations that it lacks.
func openDatabase(_ url: String) async throws -> QuakeDatabase {
  let database = QuakeDatabase(url, applicationName: "map")
  try await database.migrate(as: "map 1.0")
  return database
}

/// Starts a private PostgreSQL whose data is in a folder, unless it runs already.
func openPrivateDatabase(in folder: String) async throws -> QuakeDatabase {
  let database = try await QuakeDatabase.embedded(in: folder, applicationName: "map")
  try await database.migrate(as: "map 1.0")
  return database
}

/// The places of the present events of magnitude 6 and more, newest first.
func strongEvents(in database: QuakeDatabase) async throws -> [String] {
  let list = try await database.events(EventQuery(where: .magnitude >= 6))
  return list.events.map { event in
    "\(event.magnitude ?? 0) \(event.place ?? "somewhere")"
  }
}

/// The number of earthquakes on each day, and the average of their magnitudes.
func daily(in database: QuakeDatabase, since time: Timestamp) async throws -> [String] {
  try await database.groups(EventQuery(where: .time >= time), by: .day).map { group in
    "\(group.summary.count) \(group.summary.average ?? 0)"
  }
}

/// Sets an event's place, and states author and reason for the history.
func setPlace(of code: String, to place: String, in database: QuakeDatabase) async throws {
  try await database.withConnection { connection in
    try connection.transaction {
      try connection.execute("set local quake.author = 'ann'")
      try connection.execute("set local quake.context = 'corrected by hand'")
      try connection.execute("update quake.quake set place = \(place) where code = \(code)")
    }
  }
}

/// Runs the body of a program. An error, such as that of a database that is away, ends the program with the
/// error's sentences on standard error.
func runProgram(_ name: String, _ body: () async throws -> Void) async {
  do {
    try await body()
  } catch {
    FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
    exit(1)
  }
}
