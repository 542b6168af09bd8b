import Basics
import EmbeddedPostgres
import Foundation
import Postgres
import QuakeSchema
import TestSupport
import Testing

/// A region with a server of its own, the server of its streams, and watchers of both.
///
/// Used from one thread.
final class WatchedRegion {
  let name: String
  let server: EmbeddedServer
  /// Those that run to the end, and those that are killed and continue after their cursor.
  private(set) var steady: [WatchedFeed] = []
  private(set) var killed: [WatchedFeed] = []
  private let centre: String
  private let folder: TemporaryFolder
  private let port: (descriptor: Int32, port: Int)
  private var http: ToolProcess?

  /// The name of its subscription and its slot.
  var slot: String { "quake_region_\(name)" }
  /// In turn one of the database and one of the streams.
  var watchers: [WatchedFeed] { steady + killed }
  /// The address of the server of streams.
  var url: String { "http://127.0.0.1:\(port.port)" }

  /// Makes a region of `centre`.
  init(_ name: String, of centre: String, binDirectory: String?) throws {
    self.name = name
    self.centre = centre
    folder = try TemporaryFolder()
    port = try LocalSocket.bind(reuses: true)
    var options = EmbeddedServer.Options(home: folder.path + "/region")
    options.binDirectory = binDirectory
    options.settings = [
      "fsync": "off", "shared_buffers": "64MB", "wal_retrieve_retry_interval": "200ms",
      "wal_receiver_timeout": "10s",
    ]
    server = try EmbeddedServer(options)
    try server.start()
    try Tools.succeed("quake-admin", ["migrate", "-d", server.conninfo])
    try create()
  }

  deinit {
    http = nil
    _ = try? server.stop(mode: .immediate)
    close(port.descriptor)
  }

  /// Makes it a region, or corrects what it lacks.
  func create() throws {
    try Tools.succeed(
      "quake-admin", ["region", "create", name, "--centre", centre, "-d", server.conninfo])
  }

  /// Starts the server of streams and the watchers, from the beginning of the history.
  func watch() throws {
    try startServing()
    func feed(_ what: String, _ source: String, _ store: WatchedFeed.CursorStore) throws
      -> WatchedFeed
    {
      try WatchedFeed("\(name), \(what)", source, cursorStore: store)
    }
    steady = [
      try feed("database", server.conninfo, .none), try feed("streams", url, .none),
    ]
    killed = [
      try feed("database, killed", server.conninfo, .file(folder.path + "/database")),
      try feed("streams, killed", url, .file(folder.path + "/streams")),
    ]
  }

  private func startServing() throws {
    let started = try Tools.start(
      "quake-serve",
      ["--listen", "127.0.0.1:\(port.port)", "--no-access-log", "-d", server.conninfo])
    try started.waitForError("serving on http://127.0.0.1:")
    http = started
  }

  /// Kills the server of streams and starts it again.
  func restartServing() throws {
    http?.signal(SIGKILL)
    _ = try http?.exit()
    try startServing()
  }

  /// Makes sure that the pipes of what runs do not fill, and that watchers that found no server run again.
  func keep() throws {
    http?.takeIn()
    for watcher in watchers {
      watcher.process.process.takeIn()
      try watcher.restartIfUnavailable()
    }
  }

  /// Stops all that reads it; each must say that it ended well.
  func stopWatching() throws {
    for watcher in watchers {
      let outcome = try watcher.process.stop()
      #expect(outcome.ending == .exited(0), "\(watcher.name): \(outcome.errors.suffix(2000))")
    }
    http?.signal(SIGTERM)
    let outcome = try http?.exit()
    #expect(outcome?.status == 0, "\(outcome?.errors.suffix(2000) ?? "")")
  }

  /// Waits until `quake-admin region check` has nothing to object to.
  func waitUntilWell() throws {
    let deadline = Deadline(after: ToolProcess.patience)
    while true {
      let outcome = try Tools.run("quake-admin", ["region", "check", "-d", server.conninfo])
      guard outcome.status != 0 else { return }
      guard !deadline.hasPassed else {
        throw ToolProcess.Failure(description: "\(name): \(outcome.output)\(outcome.errors)")
      }
    }
  }

  /// What each replicated table holds: the number of rows and a digest.
  static func contents(of server: EmbeddedServer) throws -> [String] {
    let connection = try server.connect()
    return try RegionTables.replicated.map { table in
      let rows = try connection.ask(
        """
        select count(*) || ' ' || coalesce(md5(string_agg(md5(t::text), '' order by md5(t::text))), '')
          from \(table) t
        """)
      return "\(table) \(rows ?? "")"
    }
  }
}
