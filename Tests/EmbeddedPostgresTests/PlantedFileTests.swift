import Glibc
import Testing

@testable import EmbeddedPostgres

/// The account owns the server's folder, and root may start the server.
@Suite("A file that another user planted in the server's folder")
struct PlantedFileTests {
  @Test(
    "neither has another file emptied or given away, nor is waited for",
    arguments: ["server.lock", "start.log"], ["hard link", "symbolic link", "pipe"])
  func planted(name: String, kind: String) throws {
    try TemporaryServer.with(isInitialised: true) { temporary in
      let server = try temporary.embedded()
      // The server creates its folders and stops; then a file is planted in them.
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
