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

  /// The folder of one that has been started and stopped, which others copy: `initdb` takes longer than most tests.
  private static let original = Result<String, any Error> { try makeOriginal() }

  private static func makeOriginal() throws -> String {
    let home = TestFolders.path("original-server")
    atexit {
      if case .success(let home) = ToolServer.original { TestFolders.remove(home) }
    }
    let embedded = try server(in: home)
    try embedded.start()
    try embedded.stop()
    return home
  }

  /// - Parameters:
  ///   - name: The name of its folder.
  ///   - isInitialised: Whether it has been started and stopped before.
  init(_ name: String = "server", isInitialised: Bool = false) throws {
    folder = try TemporaryFolder()
    home = folder.path + "/" + name
    embedded = try Self.server(in: home)
    guard isInitialised else { return }
    try Tools.shell("cp -a '\(Self.original.get())' '\(home)'").requireSuccess()
  }

  private static func server(in home: String) throws -> EmbeddedServer {
    var options = EmbeddedServer.Options(home: home)
    options.binDirectory = ProcessInfo.processInfo.environment["QUAKE_PG_BIN"]
    return try EmbeddedServer(options)
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
    try command("psql", "-X", "-A", "-t", "-q", "-c", query).requireSuccess().lines
  }
}
