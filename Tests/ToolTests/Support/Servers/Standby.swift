import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// A primary and a hot standby that follows it, both private and removed afterwards.
final class ReplicatedServers {
  let primary: EmbeddedServer
  let standby: EmbeddedServer
  private let folder: TemporaryFolder

  /// The folder of a primary with Quake's schema, started and stopped, which others copy.
  private static let original = Result<String, any Error> { try makeOriginal() }

  private static func makeOriginal() throws -> String {
    let home = TestFolders.path("original-primary")
    atexit {
      if case .success(let home) = ReplicatedServers.original { TestFolders.remove(home) }
    }
    let server = try EmbeddedServer(options(home))
    try server.start()
    try Tools.succeed("quake-admin", ["migrate", "-d", server.conninfo])
    try server.stop()
    _ = try Tools.shell("echo 'local replication all trust' >> '\(home)/data/pg_hba.conf'")
    return home
  }

  private static func options(_ home: String) -> EmbeddedServer.Options {
    var options = EmbeddedServer.Options(home: home)
    options.binDirectory = ProcessInfo.processInfo.environment["QUAKE_PG_BIN"]
    options.settings = ["fsync": "off", "shared_buffers": "16MB"]
    return options
  }

  init() throws {
    folder = try TemporaryFolder()
    let (first, second) = (folder.path + "/primary", folder.path + "/standby")
    let original = try Self.original.get()
    try Tools.shell(
      """
      cp -a '\(original)' '\(first)'
      cp -a '\(original)' '\(second)'
      cp -a '\(second)/data/PG_VERSION' '\(second)/data/standby.signal'
      """
    ).requireSuccess()
    primary = try EmbeddedServer(Self.options(first))
    try primary.start()
    var options = Self.options(second)
    options.settings["primary_conninfo"] =
      "host=\(try primary.status().socketDirectory) port=5432 user=quake"
    standby = try EmbeddedServer(options)
    try standby.start()
  }

  deinit {
    _ = try? primary.signal(SIGCONT)
    _ = try? standby.stop(mode: .immediate)
    _ = try? primary.stop(mode: .immediate)
  }

  /// Stops all processes of the primary until the end of the test: its connections stay open, and nothing answers.
  func hang() throws {
    try primary.signal(SIGSTOP)
  }

  /// Makes the standby the primary.
  func promote() throws {
    try ask(standby, "select pg_promote()")
  }

  /// The output of psql for a query.
  @discardableResult
  func ask(_ server: EmbeddedServer, _ query: String) throws -> String { try server.ask(query) }
}

extension EmbeddedServer {
  /// Commits an event.
  func insert(_ code: String) throws {
    try ask("insert into quake.quake (code, time) values ('\(code)', now())")
  }
}
