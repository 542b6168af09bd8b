import Glibc
import Testing

@testable import EmbeddedPostgres

/// The server's folder is its account's, and who starts the server may be root.
@Suite("What somebody has put into the server's folder")
struct PlantedFileTests {
  @Test(
    "neither has another file emptied or given away, nor is waited for",
    arguments: ["server.lock", "start.log"], ["hard link", "symbolic link", "pipe"])
  func planted(name: String, kind: String) throws {
    try TemporaryServer.with(isInitialised: true) { temporary in
      let server = try temporary.embedded()
      // The folders are made as they should be; then the server is gone, and something is left.
      try server.start()
      _ = try server.stop()
      let path = temporary.options.home + "/" + name
      let victim = temporary.options.home + "/victim"
      temporary.write("precious", to: victim)
      unlink(path)
      switch kind {
      case "hard link": #expect(link(victim, path) == 0)
      case "symbolic link": #expect(symlink(victim, path) == 0)
      default: #expect(mkfifo(path, 0o666) == 0)
      }
      var before = stat()
      #expect(stat(victim, &before) == 0)
      let error = try #require(throws: EmbeddedServerError.self) { try server.start() }
      #expect(error.message.contains(path), "\(error)")
      var after = stat()
      #expect(stat(victim, &after) == 0)
      #expect(after.st_size == before.st_size && after.st_uid == before.st_uid)
      unlink(path)
      try server.start()
    }
  }
}
