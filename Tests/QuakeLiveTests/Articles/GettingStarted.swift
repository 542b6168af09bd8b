import Foundation
import QuakeStore

/// Opens a database that exists, and applies the migrations that it lacks.
func openDatabase(_ conninfo: String) throws -> QuakeDatabase {
  let settings = ConnectionSettings(conninfo, applicationName: "map")
  let connection = try Connection(settings)
  _ = try Migrator(connection: connection, program: "map 1.0").migrate()
  return QuakeDatabase(settings)
}

/// Starts a private PostgreSQL whose data is in a folder, unless it runs already.
func openPrivateDatabase(in folder: String) throws -> QuakeDatabase {
  let server = try EmbeddedServer(EmbeddedServer.Options(home: folder))
  try server.start()
  return try openDatabase(server.conninfo)
}

/// The places of the present events of magnitude 6 and more, newest first.
func strongEvents(in database: QuakeDatabase) async throws -> [String] {
  var filter = QuakeFilter()
  filter.minimumMagnitude = 6
  let snapshot = try await database.snapshot(filter: filter)
  return snapshot.quakes.map { quake in
    "\(quake.magnitude ?? 0) \(quake.place ?? "somewhere")"
  }
}

/// Sets an event's place, and states author and reason for the history.
func setPlace(of code: String, to place: String, over connection: Connection) throws {
  try connection.transaction {
    try connection.execute("set local quake.author = 'ann'")
    try connection.execute("set local quake.context = 'corrected by hand'")
    try connection.execute(
      "update quake.quake set place = \(place) where code = \(code)")
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
