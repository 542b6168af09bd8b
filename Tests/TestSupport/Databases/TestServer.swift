import Dispatch
package import EmbeddedPostgres
import Glibc
package import Postgres
import Synchronization

/// The private PostgreSQL server of a test run, in a folder of its own, started at its first use
/// and stopped when the process ends. `QUAKE_PG_BIN` chooses another version.
package final class TestServer: Sendable {
  /// The server of this process.
  package static let shared: TestServer = {
    do {
      return try TestServer()
    } catch {
      preconditionFailure("could not start PostgreSQL for the tests: \(error)")
    }
  }()

  /// A second server of another version, whose programs `QUAKE_PG18_BIN` names; nil: there is none.
  /// For tests of roles and privileges, which depend on the version.
  package static let other: TestServer? = {
    guard let folder = getenv("QUAKE_PG18_BIN").map({ String(cString: $0) }), !folder.isEmpty else {
      return nil
    }
    do {
      let server = try TestServer(binDirectory: folder, name: "other-server")
      atexit { if let other = TestServer.other { TestServer.stop(other) } }
      return server
    } catch {
      preconditionFailure("could not start the PostgreSQL that QUAKE_PG18_BIN names: \(error)")
    }
  }()

  /// A server whose databases have regions.
  package static let centre: TestServer = replicating("centre") {
    TestServer.stop(TestServer.centre)
  }

  /// A server of regions.
  package static let region: TestServer = replicating("region") {
    TestServer.stop(TestServer.region)
  }

  /// A server that sends or takes logical replication. Several databases do so at a time, and a worker that has failed
  /// tries again soon.
  private static func replicating(_ name: String, _ stop: @convention(c) () -> Void) -> TestServer {
    do {
      let server = try TestServer(
        binDirectory: getenv("QUAKE_PG_BIN").map { String(cString: $0) }, name: name,
        settings: [
          "wal_level": "logical", "max_replication_slots": "50", "max_wal_senders": "50",
          "max_logical_replication_workers": "40", "max_worker_processes": "60",
          "max_sync_workers_per_subscription": "4", "wal_retrieve_retry_interval": "200ms",
          "max_connections": "100",
        ])
      atexit(stop)
      return server
    } catch {
      preconditionFailure("could not start PostgreSQL as a \(name): \(error)")
    }
  }

  /// The server itself.
  package let server: EmbeddedServer
  /// The path of its `psql`.
  package let psqlPath: String

  private let drops = DispatchQueue(label: "dropped databases")
  /// The sessions that create and that drop databases, from their first statement on.
  private let creator = Mutex<Connection?>(nil)
  private let dropper = Mutex<Connection?>(nil)
  /// The databases that tests copy.
  private let templates = Mutex<Set<String>>([])

  private convenience init() throws {
    TestFolders.removeLeftovers()
    try self.init(binDirectory: getenv("QUAKE_PG_BIN").map { String(cString: $0) }, name: "server")
    atexit { TestServer.stop(TestServer.shared) }
  }

  private init(binDirectory: String?, name: String, settings: [String: String] = [:]) throws {
    var options = EmbeddedServer.Options(home: TestFolders.path(name))
    options.binDirectory = binDirectory
    // The data need not survive a power failure.
    options.settings = [
      "fsync": "off", "full_page_writes": "off", "max_wal_size": "512MB",
      "max_connections": "300",
      // No test waits for it, and with hundreds of databases it would start a worker every moment.
      "autovacuum_naptime": "1h",
      // For the tests of prepared transactions.
      "max_prepared_transactions": "20",
    ].merging(settings) { $1 }
    server = try EmbeddedServer(options)
    try server.start()
    psqlPath = try server.psqlPath
  }

  /// A new connection for statements about databases.
  func administrator() throws -> Connection {
    try Self.connect(server.conninfo)
  }

  /// A new connection. A busy machine may take longer for it than the default allows.
  package static func connect(
    _ conninfo: String, applicationName: String = "tests"
  ) throws -> Connection {
    var settings = ConnectionSettings(conninfo, applicationName: applicationName)
    settings.connectTimeout = ToolProcess.patience
    return try Connection(settings)
  }

  /// The database `name` for tests to copy, created and filled at the first call.
  ///
  /// - Parameter fill: Gets the database in which it makes what each copy has.
  /// - Returns: `name`.
  package func template(
    _ name: String, filledBy fill: (ConnectionSettings) throws -> Void
  ) throws -> String {
    try templates.withLock { present in
      guard !present.contains(name) else { return }
      try administrator().execute(SQL(trusted: "create database \(name)"))
      var settings = ConnectionSettings(
        Self.conninfo(server, database: name), applicationName: "tests")
      settings.connectTimeout = ToolProcess.patience
      try fill(settings)
      // The next session writes PostgreSQL's cache of the catalogue anew, which every copy then has from the start.
      try Connection(settings).execute("select")
      present.insert(name)
    }
    return name
  }

  /// Creates a database that is a copy of `template`, which must have no sessions but those that are ending.
  func create(_ database: String, template: String) throws {
    try creator.withLock { session in
      let connection = try session ?? administrator()
      session = connection
      // Copying files costs half of what copying pages through the log does, the default since PostgreSQL 15.
      let strategy = connection.serverVersion >= 150_000 ? "strategy file_copy" : ""
      try eventually("the sessions of \(template) have ended") {
        do throws(PostgresError) {
          try connection.execute(
            SQL(trusted: "create database \(database) template \(template) \(strategy)"))
          return true
        } catch {
          // The template is in use. PostgreSQL itself waits five seconds.
          guard error.sqlState == "55006" else { throw error }
          return false
        }
      }
    }
  }

  /// Drops a database. The caller does not wait: PostgreSQL makes a checkpoint for each, and so writes
  /// what other tests have changed.
  func dropLater(_ database: String) {
    drops.async {
      self.dropper.withLock { session in
        guard let connection = try? session ?? self.administrator() else { return }
        session = connection
        _ = try? connection.execute(
          SQL(trusted: "drop database if exists \(database) with (force)"))
      }
    }
  }

  static func conninfo(_ server: EmbeddedServer, database: String) -> String {
    // libpq takes the later of two equal keywords.
    server.conninfo + " dbname=\(database)"
  }

  private static func stop(_ stopped: TestServer) {
    _ = try? stopped.server.stop(mode: .immediate)
    TestFolders.remove(stopped.server.options.home)
  }
}

/// The servers on which tests of roles and of attacks run: what PostgreSQL allows differs between its versions.
package enum ServerVersion: String, Sendable, CaseIterable, CustomStringConvertible {
  /// The one that all tests use.
  case main
  /// The one that QUAKE_PG18_BIN names.
  case other

  /// Those that are there.
  package static var present: [ServerVersion] {
    TestServer.other == nil ? [.main] : [.main, .other]
  }

  /// In `make soak` those that are there, otherwise the first: for what the privileges of roles lead to, which
  /// `PrivilegeMatrixTests` compares on each version.
  package static var usual: [ServerVersion] { Tools.isSoak ? present : [.main] }

  /// The server itself.
  package var server: TestServer { self == .other ? TestServer.other ?? .shared : .shared }
  package var description: String { rawValue }
}
