import Foundation
import Postgres
import TestSupport
import Testing

/// A PgBouncer in front of the server under test. It refuses to run as root, so it runs as the
/// server's account.
final class Pooler {
  /// The path of the program; nil: it is not installed.
  static let program: String? = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].first {
    access($0, X_OK) == 0
  }

  private let folder: TemporaryFolder
  private let process: ToolProcess
  private let database: String
  private let user: String

  /// The connection string of the database behind it.
  var conninfo: String { "host=\(folder.path) port=6432 user=\(user) dbname=\(database)" }

  /// - Parameters:
  ///   - mode: `session` or `transaction`.
  ///   - user: The role that may connect through it.
  ///   - setting: A line of its configuration.
  init(
    _ mode: String, for database: TestDatabase, user: String = "quake", setting: String = ""
  ) throws {
    self.user = user
    folder = try TemporaryFolder()
    self.database = database.name
    let server = try database.connect()
    let socket = try #require(try server.ask("show unix_socket_directories"))
      .replacingOccurrences(of: "\"", with: "")
    let port = try #require(try server.ask("show port"))
    try folder.write("users.txt", "\"\(user)\" \"\"\n")
    let configuration = try folder.write(
      "pgbouncer.ini",
      """
      [databases]
      * = host=\(socket) port=\(port)
      [pgbouncer]
      pool_mode = \(mode)
      listen_addr =
      listen_port = 6432
      unix_socket_dir = \(folder.path)
      auth_type = trust
      auth_file = \(folder.path)/users.txt
      default_pool_size = 5
      logfile = \(folder.path)/log
      \(setting)
      """)
    let program = try #require(Self.program)
    let account = NSUserName() == "root" ? ["/sbin/runuser", "-u", "postgres", "--"] : []
    if !account.isEmpty {
      _ = try ToolProcess("/bin/chown", ["-R", "postgres", folder.path], environment: [:]).exit()
    }
    // Quiet: no test reads its output, and it would wait when the pipe is full.
    let words = account + [program, "-q", configuration]
    process = try ToolProcess(words[0], Array(words.dropFirst()), environment: Tools.environment)
    let conninfo = "host=\(folder.path) port=6432 user=\(user) dbname=\(database.name)"
    try eventually("the pooler takes connections") {
      (try? Connection(ConnectionSettings(conninfo, applicationName: "tests"))) != nil
    }
  }

  /// Stops the pooler, and with it its sessions with the server.
  func stop() throws {
    process.signal(SIGTERM)
    _ = try process.exit()
  }
}
