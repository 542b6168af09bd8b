import Glibc
import Testing

@testable import EmbeddedPostgres

@Suite struct OptionsTests {
  @Test func theOptionsComeFromTheEnvironment() throws {
    let variables = [
      "QUAKE_SERVER_HOME": "/srv/quake", "QUAKE_PG_BIN": "/opt/pg/bin", "QUAKE_SERVER_USER": "me",
      "PATH": "/a:relative::/b",
    ]
    let options = try EmbeddedServer.Options.fromEnvironment { variables[$0] }
    #expect(options.home == "/srv/quake")
    #expect(options.binDirectory == "/opt/pg/bin")
    #expect(options.account == "me")
    #expect(options.searchPath == ["/a", "/b"])
  }

  @Test func theOptionsPutRootsServerIntoTheSystemsFolder() throws {
    let options = try EmbeddedServer.Options.fromEnvironment {
      ["HOME": "/home/me", "XDG_DATA_HOME": "/data/me"][$0]
    }
    #expect(options.home == (geteuid() == 0 ? "/var/lib/quake" : "/data/me/quake"))
  }

  @Test func theOptionsRefuseAnInvalidFolder() {
    for home in ["", "relative", "/tmp/a\nb", "/tmp/" + String(repeating: "a/", count: 500)] {
      let error = #expect(throws: EmbeddedServerError.self) {
        try EmbeddedServer(.init(home: home))
      }
      #expect(error?.kind == .configuration)
    }
  }

  @Test(.enabled(if: geteuid() == 0))
  func theOptionsNameAnAccountThatExistsAndIsNotRoot() {
    for name in ["no-such-account", "root"] {
      var options = EmbeddedServer.Options(home: "/tmp/quake-test-account")
      options.account = name
      let error = #expect(throws: EmbeddedServerError.self) { try EmbeddedServer(options) }
      #expect(error?.kind == .configuration)
      #expect(error?.hint?.contains("QUAKE_SERVER_USER") == true)
    }
  }

  @Test func theOptionsHaveTheSameFolderForTwoPathsToIt() throws {
    try TemporaryServer.with { temporary in
      let link = temporary.options.home + "-link"
      mkdir(temporary.options.home, 0o700)
      symlink(temporary.options.home, link)
      defer { unlink(link) }
      let one = try EmbeddedServer(.init(home: temporary.options.home + "/a"))
      let other = try EmbeddedServer(.init(home: link + "//a/"))
      #expect(one.conninfo == other.conninfo)
    }
  }
}
