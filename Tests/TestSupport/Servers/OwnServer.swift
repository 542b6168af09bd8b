package import EmbeddedPostgres
import Foundation
package import Postgres
import QuakeSchema

/// A PostgreSQL of one test's own, to be killed and started again, gone after the test.
package final class OwnServer: Sendable {
  /// The server itself.
  package let server: EmbeddedServer

  /// Starts one, with the schema in its database.
  ///
  /// - Parameter binDirectory: The programs of another version; nil: those of the other servers.
  package init(settings: [String: String] = [:], binDirectory: String? = nil) throws {
    var options = EmbeddedServer.Options(home: TestFolders.path("own-server"))
    options.binDirectory = binDirectory ?? ProcessInfo.processInfo.environment["QUAKE_PG_BIN"]
    // A killed process loses nothing that it had written, only a machine without power does.
    options.settings = [
      "fsync": "off", "max_connections": "200", "deadlock_timeout": "50ms",
      "shared_buffers": "256MB",
    ].merging(settings) { $1 }
    server = try EmbeddedServer(options)
    try server.start()
    _ = try Migrator(connection: connect(), program: "tests").migrate()
  }

  deinit {
    // A test may have ended while it had stopped the processes.
    _ = try? server.signal(SIGCONT)
    _ = try? server.stop(mode: .immediate)
    TestFolders.remove(server.options.home)
  }

  /// Its connection string.
  package var conninfo: String { server.conninfo }

  /// The path of its socket.
  package var socketPath: String {
    get throws { try server.status().socketDirectory + "/.s.PGSQL.5432" }
  }

  /// A connection to it.
  package func connect(applicationName: String = "tests") throws -> Connection {
    try server.connect(applicationName: applicationName)
  }

  /// Kills every process of it and starts it again.
  package func crash() throws {
    try server.killAll()
    try server.start()
  }
}

extension EmbeddedServer {
  /// A connection to it.
  package func connect(applicationName: String = "tests") throws -> Connection {
    try TestServer.connect(conninfo, applicationName: applicationName)
  }

  /// The answer to a query, as `psql` prints it.
  @discardableResult
  package func ask(_ query: String) throws -> String {
    let outcome = try ToolProcess(
      psqlPath, ["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", query, "-d", conninfo],
      environment: Tools.environment
    ).exit()
    guard outcome.status == 0 else {
      throw ToolProcess.Failure(description: "\(query): \(outcome.errors)")
    }
    return outcome.lines.joined(separator: "\n")
  }

  /// Sends a signal to every process of it.
  package func signal(_ signal: Int32) throws {
    guard let postmaster = try status().pid else { return }
    // First: it starts no further process when it stands still.
    kill(postmaster, signal)
    for process in Self.children(of: postmaster) { kill(process, signal) }
  }

  /// Kills every process of it, as the loss of its machine does.
  package func killAll() throws {
    guard let postmaster = try status().pid else { return }
    // It starts no further process then.
    kill(postmaster, SIGSTOP)
    let processes = [postmaster] + Self.children(of: postmaster)
    for process in processes { kill(process, SIGKILL) }
    // Until then it would be taken for one that runs.
    try eventually("the server's processes have gone") { processes.allSatisfy(Self.hasEnded) }
    var status: Int32 = 0
    waitpid(postmaster, &status, WNOHANG)
  }

  private static func hasEnded(_ process: pid_t) -> Bool {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      let name = text.lastIndex(of: ")")
    else { return true }
    return text[name...].hasPrefix(") Z")
  }

  private static func children(of parent: pid_t) -> [pid_t] {
    let path = "/proc/\(parent)/task/\(parent)/children"
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
    return text.split(separator: " ").compactMap { pid_t($0) }
  }
}
