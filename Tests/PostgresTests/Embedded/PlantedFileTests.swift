import Glibc
import Testing

@testable import EmbeddedPostgres

/// The account owns the server's folder, and root may start the server.
@Suite struct PlantedFileTests {
  @Test func aPlantedFileIsNotWaitedForAndHasNoOtherFileEmptiedOrGivenAway() throws {
    try TemporaryServer.with(isInitialised: true) { temporary in
      let server = try temporary.embedded()
      // The server creates its folders and stops; then files are planted in them.
      try server.start()
      _ = try server.stop()
      let victim = temporary.options.home + "/victim"
      temporary.write("precious", to: victim)
      for name in ["server.lock", "start.log"] {
        for kind in ["hard link", "symbolic link", "pipe"] {
          try refuses(server, temporary.options.home + "/" + name, kind, of: victim)
        }
      }
      try server.start()
    }
  }

  private func refuses(
    _ server: EmbeddedServer, _ path: String, _ kind: String, of victim: String
  ) throws {
    unlink(path)
    defer { unlink(path) }
    switch kind {
    case "hard link": #expect(link(victim, path) == 0)
    case "symbolic link": #expect(symlink(victim, path) == 0)
    default: #expect(mkfifo(path, 0o666) == 0)
    }
    var before = stat()
    #expect(stat(victim, &before) == 0)
    let error = try #require(throws: EmbeddedServerError.self, "\(kind) \(path)") {
      try server.start()
    }
    #expect(error.message.contains(path), "\(error)")
    var after = stat()
    #expect(stat(victim, &after) == 0)
    #expect(after.st_size == before.st_size && after.st_uid == before.st_uid, "\(kind) \(path)")
  }
}
