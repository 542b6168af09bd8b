import Basics
import Glibc
import TestSupport
import Testing

@testable import EmbeddedPostgres

/// A server in a folder of its own, without flushing to disk, gone after the test.
struct TemporaryServer {
  var options: EmbeddedServer.Options

  init(_ name: String) {
    options = EmbeddedServer.Options(home: TestFolders.path(name))
    options.settings = ["fsync": "off", "shared_buffers": "16MB"]
    options.startTimeout = ToolProcess.patience
  }

  /// Runs `body` with the server's options, then stops whatever runs there and removes the folder.
  ///
  /// - Parameter isInitialised: Whether the server has been started and stopped before. `initdb` takes
  ///   longer than all else in these tests: one folder is made, and the others are copies of it.
  static func with(
    _ name: String = "server", isInitialised: Bool = false,
    _ body: (TemporaryServer) throws -> Void
  ) throws {
    let server = TemporaryServer(name)
    defer { server.remove() }
    if isInitialised {
      let copy = try ChildProcess(
        "/bin/cp", ["-a", "--", original.get().options.home, server.options.home]
      ).run()
      try #require(copy.succeeded)
    }
    try body(server)
  }

  private static let original = Result<TemporaryServer, any Error> { try makeOriginal() }

  private static func makeOriginal() throws -> TemporaryServer {
    let server = TemporaryServer("original")
    atexit {
      if case .success(let server) = TemporaryServer.original { server.remove() }
    }
    let embedded = try server.embedded()
    try embedded.start()
    try embedded.stop()
    return server
  }

  /// The server that the options describe.
  func embedded() throws -> EmbeddedServer { try EmbeddedServer(options) }

  /// Writes a file that `initdb` did not make, in place of the real one.
  func write(_ text: String, to path: String) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    _ = text.withCString { Glibc.write(descriptor, $0, strlen($0)) }
    close(descriptor)
  }

  private func remove() {
    guard let server = try? embedded() else { return }
    _ = try? server.stop(mode: .immediate)
    TestFolders.remove(options.home)
    if !server.folder.hasSocketInside { TestFolders.remove(server.folder.socket) }
  }
}
