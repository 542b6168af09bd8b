import ChildProcesses
import Dispatch
public import EmbeddedPostgres
import Glibc
import Postgres
import QuakeSchema

/// The private PostgreSQL server of a test run, in a folder of its own, started at its first use
/// and stopped when the process ends. `QUAKE_PG_BIN` chooses another version.
public final class TestServer: Sendable {
  /// The server of this process.
  public static let shared: TestServer = {
    do {
      return try TestServer()
    } catch {
      preconditionFailure("could not start PostgreSQL for the tests: \(error)")
    }
  }()

  /// A second server of another version, whose programs `QUAKE_PG18_BIN` names; nil: there is none.
  /// For tests of roles and privileges, which depend on the version.
  public static let other: TestServer? = {
    guard let folder = getenv("QUAKE_PG18_BIN").map({ String(cString: $0) }), !folder.isEmpty else {
      return nil
    }
    do {
      return try TestServer(binDirectory: folder, suffix: "-other")
    } catch {
      preconditionFailure("could not start the PostgreSQL that QUAKE_PG18_BIN names: \(error)")
    }
  }()

  /// The server itself.
  public let server: EmbeddedServer
  /// The path of its `psql`.
  public let psqlPath: String

  private let drops = DispatchQueue(label: "dropped databases")

  private static let prefix = "quake-test-server-"
  private static let folders = ["/dev/shm", "/tmp"]

  /// Where servers keep their data: in memory if 6 GiB are free, because each test creates and
  /// drops a database of three hundred files. Soak tests write too much for that.
  private static let folder: String = {
    var memory = statvfs()
    guard !Tools.isSoak, statvfs(folders[0], &memory) == 0,
      UInt64(memory.f_bavail) * UInt64(memory.f_frsize) >= 6 << 30
    else { return folders[1] }
    return folders[0]
  }()

  private convenience init() throws {
    Self.removeLeftovers()
    try self.init(binDirectory: getenv("QUAKE_PG_BIN").map { String(cString: $0) }, suffix: "")
    atexit { TestServer.stop(TestServer.shared) }
  }

  private init(binDirectory: String?, suffix: String) throws {
    var options = EmbeddedServer.Options(home: "\(Self.folder)/\(Self.prefix)\(getpid())\(suffix)")
    options.binDirectory = binDirectory
    // The data need not survive a power failure.
    options.settings = [
      "fsync": "off", "full_page_writes": "off", "max_wal_size": "512MB",
      "max_connections": "300",
      // For the tests of prepared transactions.
      "max_prepared_transactions": "20",
    ]
    server = try EmbeddedServer(options)
    try server.start()
    psqlPath = try server.psqlPath
    try Self.createTemplate(server)
    if !suffix.isEmpty { atexit { if let other = TestServer.other { TestServer.stop(other) } } }
  }

  /// A new connection for statements about databases.
  func administrator() throws -> Connection {
    try Connection(ConnectionSettings(server.conninfo, applicationName: "tests"))
  }

  /// Drops a database. The caller does not wait: PostgreSQL makes a checkpoint for each, and so writes
  /// what other tests have changed.
  func dropLater(_ database: String) {
    drops.async {
      _ = try? self.administrator().execute(
        SQL(trusted: "drop database if exists \(database) with (force)"))
    }
  }

  private static func createTemplate(_ server: EmbeddedServer) throws {
    let admin = try Connection(ConnectionSettings(server.conninfo, applicationName: "tests"))
    try admin.execute("create database quake_template")
    let connection = try Connection(
      ConnectionSettings(conninfo(server, database: "quake_template"), applicationName: "tests"))
    _ = try Migrator(connection: connection, program: "tests").migrate()
  }

  static func conninfo(_ server: EmbeddedServer, database: String) -> String {
    // libpq takes the later of two equal keywords.
    server.conninfo + " dbname=\(database)"
  }

  private static func stop(_ stopped: TestServer) {
    _ = try? stopped.server.stop(mode: .immediate)
    remove(stopped.server.options.home)
  }

  /// Stops and removes the servers of runs that were killed: those whose process, named in the
  /// folder's name, is gone.
  private static func removeLeftovers() {
    for folder in folders { removeLeftovers(in: folder) }
  }

  private static func removeLeftovers(in path: String) {
    guard let folder = opendir(path) else { return }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard name.hasPrefix(prefix),
        let pid = pid_t(name.dropFirst(prefix.count).prefix { $0.isNumber }),
        kill(pid, 0) != 0, errno == ESRCH
      else { continue }
      let options = EmbeddedServer.Options(home: "\(path)/\(name)")
      _ = try? EmbeddedServer(options).stop(mode: .immediate)
      remove("\(path)/\(name)")
    }
  }

  private static func remove(_ folder: String) {
    _ = try? ChildProcess("/bin/rm", ["-rf", folder]).run()
  }
}
