import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// An embedded server for one test, in a folder of its own. The tools of the test create and start it.
final class ToolServer {
  /// A folder for the files of the test; the server is in it.
  let folder: TemporaryFolder
  /// The folder of the server.
  let home: String
  /// The server, as this process sees it.
  let embedded: EmbeddedServer

  /// - Parameter name: The name of its folder.
  init(_ name: String = "server") throws {
    folder = try TemporaryFolder()
    home = folder.path + "/" + name
    var options = EmbeddedServer.Options(home: home)
    options.binDirectory = ProcessInfo.processInfo.environment["QUAKE_PG_BIN"]
    embedded = try EmbeddedServer(options)
  }

  deinit { _ = try? embedded.stop(mode: .immediate) }

  /// Starts a tool that uses the server.
  func start(
    _ tool: String, _ arguments: [String], _ environment: [String: String] = [:]
  ) throws -> ToolProcess {
    try Tools.start(
      tool, arguments, environment: ["QUAKE_SERVER_HOME": home].merging(environment) { $1 })
  }

  /// Runs `quake-admin server`.
  func command(_ arguments: String...) throws -> ToolProcess.Outcome {
    try start("quake-admin", ["server"] + arguments).exit()
  }

  /// The lines that `quake-admin server psql` prints for a query.
  func psql(_ query: String) throws -> [String] {
    let outcome = try command("psql", "-X", "-A", "-t", "-q", "-c", query)
    try #require(outcome.status == 0, "\(outcome.errors)")
    return outcome.lines
  }
}
