import Foundation
import TestSupport
import Testing

/// `~/.config/quake/config` and `/etc/quake/config`.
@Suite final class UserConfigurationTests: ToolSuite {
  override init() throws {
    try super.init()
    try FileManager.default.createDirectory(
      atPath: folder.path + "/user/quake", withIntermediateDirectories: true)
  }

  private func write(user: String? = nil, system: String? = nil) throws {
    for (text, path) in [(user, "user/quake/config"), (system, "system")] {
      let path = folder.path + "/" + path
      if let text {
        _ = try folder.write(String(path.dropFirst(folder.path.count + 1)), text)
        chmod(path, 0o600)
      } else {
        try? FileManager.default.removeItem(atPath: path)
      }
    }
  }

  private func run(
    _ tool: String, _ arguments: [String], _ more: [String: String] = [:]
  ) throws -> ToolProcess.Outcome {
    try Tools.run(
      tool, arguments,
      environment: [
        "XDG_CONFIG_HOME": folder.path + "/user",
        "QUAKE_SYSTEM_CONFIG": folder.path + "/system",
      ].merging(more) { $1 })
  }

  @Test func everyToolUsesTheDatabase() throws {
    try write(user: "database = \(database.conninfo)\n")
    for (tool, arguments, status) in [
      ("quake-query", ["list", "--count"], 0), ("quake-watch", ["--no-follow"], 0),
      ("quake-admin", ["status"], 0), ("quake-ingest", ["import", "-", "--json"], 65),
    ] as [(String, [String], Int32)] {
      let outcome = try run(tool, arguments).expect(status)
      #expect(!outcome.errors.contains("/dev/null/quake"))
    }
  }

  @Test func optionsAndTheEnvironmentHavePrecedenceAndTheUserOverridesTheSystem() throws {
    func count(_ arguments: [String] = [], _ more: [String: String] = [:]) throws -> String {
      let outcome = try run("quake-query", ["list", "--count"] + arguments, more)
      return outcome.status == 0 ? outcome.output : outcome.errors
    }
    let file = try folder.write("a.geojson", Feeds.collection(count: 3))
    #expect(try run("quake-ingest", ["import", file] + database.option).status == 0)
    let other = try TestDatabase()
    let three = "database = \(database.conninfo)\n"
    let none = "database = \(other.conninfo)\n"
    try write(system: three)
    #expect(try count() == "3\n")
    try write(user: none, system: three)
    #expect(try count() == "0\n")
    try write(user: "# nothing\ncolour = no\n", system: three)
    #expect(try count() == "3\n")
    try write(user: three)
    #expect(try count([], ["DATABASE_URL": other.conninfo]) == "0\n")
    #expect(try count(other.option) == "0\n")
    #expect(try count(database.option, ["DATABASE_URL": other.conninfo]) == "3\n")
    // HOME, where XDG_CONFIG_HOME is not set.
    try FileManager.default.createDirectory(
      atPath: folder.path + "/home/.config/quake", withIntermediateDirectories: true)
    _ = try folder.write("home/.config/quake/config", three)
    #expect(
      try count([], ["XDG_CONFIG_HOME": "", "HOME": folder.path + "/home"]) == "3\n")
  }

  @Test func mistakesNameFileAndLine() throws {
    for (text, words, more) in [
      ("databse = x\n", ":1: unknown key 'databse'", "did you mean 'database'?"),
      ("\ncolour = maybe\n", ":2: invalid value 'maybe' for key 'colour'", "auto, yes or no"),
      ("time-zone = Mars/Olympus\n", ":1: invalid value 'Mars/Olympus'", "Europe/Berlin"),
      ("database = nonsense=1\n", ":1: key 'database':", ""),
      ("[section]\ndatabase = x\n", "without sections", ""),
    ] {
      try write(user: text)
      let outcome = try run("quake-query", ["list"])
      #expect(outcome.status == 64 || outcome.status == 69, "\(text): \(outcome.errors)")
      #expect(
        outcome.errors.contains(folder.path + "/user/quake/config:"), "\(text): \(outcome.errors)")
      #expect(outcome.errors.contains(words), "\(text): \(outcome.errors)")
      #expect(more.isEmpty || outcome.errors.contains(more), "\(text): \(outcome.errors)")
    }
  }

  @Test func aPasswordThatOthersCanReadIsRefused() throws {
    let path = folder.path + "/user/quake/config"
    try write(user: "database = postgresql://me:secret@127.0.0.1:1/x\n")
    #expect(try run("quake-query", ["list"]).status == 69)
    chmod(path, 0o644)
    let outcome = try run("quake-query", ["list"]).expect(64, "chmod 600")
    #expect(!outcome.errors.contains("secret"))
    // Without a password everybody may read it.
    try write(user: "database = \(database.conninfo)\n")
    chmod(path, 0o644)
    #expect(try run("quake-query", ["list", "--count"]).status == 0)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func rootDoesNotObeyTheFileOfAnotherUser() throws {
    try write(user: "database = host=/nonexistent\n")
    chown(folder.path + "/user/quake/config", 65_534, 65_534)
    try run("quake-query", ["list"], ["DATABASE_URL": database.conninfo]).expect(0)
    let verbose = try run("quake-query", ["list", "-v"])
    #expect(verbose.errors.contains("belongs to another user"), "\(verbose.errors)")
    #expect(!verbose.errors.contains("/nonexistent"))
  }

  @Test func timesAreShownInTheTimeZone() throws {
    let file = try folder.write("a.geojson", Feeds.collection(count: 3))
    #expect(try run("quake-ingest", ["import", file] + database.option).status == 0)
    try database.psql("update quake.import set generated = '2026-01-31T12:00:00Z'")
    func generated(_ more: [String: String] = [:]) throws -> String {
      try run("quake-admin", ["imports"] + database.option, more).output
    }
    #expect(try generated().contains("2026-01-31T12:00:00Z"))
    try write(user: "time-zone = Asia/Kolkata\n")
    #expect(try generated().contains("2026-01-31T17:30:00+05:30"))
    #expect(
      try generated(["QUAKE_TIME_ZONE": "America/New_York"]).contains("2026-01-31T07:00:00-05:00"))
    // Output for programs is in UTC.
    #expect(
      try run("quake-admin", ["imports", "--json"] + database.option).output.contains(
        "2026-01-31T12:00:00.000Z"))
    try run("quake-query", ["list"] + database.option, ["QUAKE_TIME_ZONE": "Nowhere"]).expect(
      64, "QUAKE_TIME_ZONE")
  }

  /// Berlin's local mean time was 53 minutes and 28 seconds ahead of UTC.
  @Test func aTimeFromBeforeTimeZonesIsReadAsItIsShown() throws {
    try database.psql("insert into quake.quake (code, time) values ('old', '1880-03-01 12:00Z')")
    let list = try run(
      "quake-query", ["list"] + database.option, ["QUAKE_TIME_ZONE": "Europe/Berlin"])
    let shown = "1880-03-01T12:53:00+00:53"
    #expect(list.output.hasPrefix(shown), "\(list.output)")
    let found = try run("quake-query", ["list", "--codes", "--from", shown] + database.option)
    #expect(found.output == "old\n")
  }
}
