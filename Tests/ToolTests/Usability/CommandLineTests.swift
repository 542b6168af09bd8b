import Foundation
import TestSupport
import Testing

/// Help, version and usage errors of every tool.
@Suite struct CommandLineTests {
  static let commands = [
    "quake-ingest", "quake-ingest run", "quake-ingest import", "quake-ingest replay",
    "quake-ingest backfill", "quake-ingest simulate",
    "quake-watch", "quake-admin", "quake-admin status", "quake-admin imports",
    "quake-admin refresh", "quake-admin migrate", "quake-admin server",
    "quake-admin server start", "quake-admin server stop", "quake-admin server status",
    "quake-admin server psql", "quake-query", "quake-query history", "quake-query list",
    "quake-query diff", "quake-query versions", "quake-query show",
  ]

  private static func run(_ command: String, _ arguments: String...) throws -> ToolProcess.Outcome {
    let words = command.split(separator: " ").map(String.init)
    return try Tools.run(words[0], words.dropFirst() + arguments)
  }

  @Test(arguments: commands)
  func helpIsOnStandardOutput(_ command: String) throws {
    let long = try Self.run(command, "--help")
    #expect(long.status == 0 && long.errors.isEmpty)
    // The arguments for psql come last, so the options of quake-admin are before it.
    let isPassedOn = command == "quake-admin server psql"
    let usage = isPassedOn ? "quake-admin server [OPTION]... psql" : command
    for words in ["Usage:\n  \(usage)", "--help"] {
      #expect(long.output.contains(words), "\(long.output)")
    }
    #expect(long.lines.allSatisfy { $0.count <= 80 }, "no wider than a terminal")
    if !isPassedOn { #expect(try Self.run(command, "-h").output == long.output) }
  }

  @Test(arguments: commands + ["quake-serve", "quake-admin events delete", "quake-admin watchers"])
  func helpBeforeTheCommandIsTheSame(_ command: String) throws {
    let words = command.split(separator: " ").map(String.init)
    let help = try Tools.run(words[0], ["help"] + words.dropFirst())
    #expect(help.status == 0 && help.errors.isEmpty)
    #expect(try help.output == Self.run(command, "--help").output)
    #expect(
      help.output.hasSuffix("\nReport problems at https://github.com/quake-project/quake/issues.\n")
    )
  }

  @Test(arguments: ["quake-ingest", "quake-query", "quake-admin", "quake-admin roles"])
  func withoutACommandExamplesComeFirst(_ command: String) throws {
    let outcome = try Self.run(command)
    #expect(outcome.status == 64 && outcome.output.isEmpty)
    let examples = try #require(outcome.errors.firstRange(of: "\nExamples:\n  # "))
    let commands = try #require(outcome.errors.firstRange(of: "\nCommands:\n"))
    #expect(examples.lowerBound < commands.lowerBound)
    #expect(outcome.errors.contains("Report problems at https://"))
    #expect(outcome.errors.split(separator: "\n").allSatisfy { $0.count <= 80 })
    // In a log of JSON, it is an error as any other.
    let json = try Self.run(command, "--log-format", "json")
    #expect(json.status == 64)
    #expect(
      try JSONLine(json.errors).string("message")?.hasPrefix("'\(command)' needs a command") == true
    )
  }

  @Test(arguments: ["quake-ingest", "quake-watch", "quake-query", "quake-admin"])
  func versionIsOnStandardOutput(_ tool: String) throws {
    let outcome = try Self.run(tool, "--version")
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
    let words = outcome.output.split(whereSeparator: \.isWhitespace)
    #expect(words.count == 2 && words.first.map(String.init) == tool, "\(outcome.output)")
    #expect(words.last?.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/) != nil)
  }

  @Test(arguments: commands)
  func wrongOptionsAreUsageErrors(_ command: String) throws {
    guard command != "quake-admin server psql" else {
      // All arguments are psql's.
      return #expect(try Self.run(command, "--help").status == 0)
    }
    let outcome = try Self.run(command, "--no-such-option")
    #expect(outcome.status == 64)
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("error: "), "\(outcome.errors)")
    #expect(outcome.errors.contains("no-such-option"))
  }

  @Test(arguments: ["quake-ingest", "quake-query", "quake-admin", "quake-admin server"])
  func aSubcommandIsNeeded(_ command: String) throws {
    #expect(try Self.run(command).status == 64)
    let outcome = try Self.run(command, "frobnicate")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("frobnicate"))
  }

  @Test(arguments: ["--quiet", "--verbose"])
  func commonOptionsMayBeBeforeOrAfterTheSubcommand(_ option: String) throws {
    let address = ["--database", "host=/nonexistent"]
    for arguments in [[option, "migrate"] + address, ["migrate", option] + address] {
      #expect(try Tools.run("quake-admin", arguments).status == 69, "\(arguments)")
    }
  }

  /// A restarted simulator has another port, and serves what the first one would serve now.
  @Test(
    arguments: [
      ([], 0), (["--start", "2026-01-02T03:04:05Z"], 0), (["--start", "now"], 200),
    ] as [([String], Int)])
  func aRestartedSimulatorServesTheSameCatalogue(start: [String], updated: Int) throws {
    // The catalogue begins at the last full hour, unless it is told when: at the end of an hour, once more.
    func hour() -> Int { Int(Date().timeIntervalSince1970) / 3600 }
    var begun: Int
    var reports: [String] = []
    var files: [String] = []
    repeat {
      begun = hour()
      let database = try TestDatabase()
      reports = try (1...2).map { _ in try Self.importFromSimulator(start, into: database) }
      files = try (1...2).map { _ in try Self.simulatedFile(start) }
    } while hour() != begun
    #expect(reports[0].contains(": 200 inserted, 0 updated"), "\(reports[0])")
    #expect(reports[1].contains(": 0 inserted, \(updated) updated"), "\(reports[1])")
    #expect((files[0] == files[1]) == (updated == 0))
  }

  /// Imports the catalogue of a simulator of its own; returns the report.
  private static func importFromSimulator(
    _ start: [String], into database: TestDatabase
  ) throws -> String {
    let simulator = try Tools.start(
      "quake-ingest", ["simulate", "--port", "0", "--events", "200", "--rate", "0"] + start)
    _ = try simulator.line()
    let feed = try #require(try simulator.line().split(separator: " ").last.map(String.init))
    let port = try #require(URL(string: feed)?.port)
    let url = "http://127.0.0.1:\(port)/catalogue.geojson"
    let outcome = try Tools.succeed("quake-ingest", ["import", url] + database.option)
    simulator.signal(SIGTERM)
    #expect(try simulator.exit().ending == .exited(0))
    return outcome.output
  }

  /// The contents of a file that the simulator writes.
  private static func simulatedFile(_ start: [String]) throws -> String {
    let folder = try TemporaryFolder()
    let file = folder.path + "/a.geojson"
    let arguments = ["simulate", "--events", "50", "--output", file] + start
    try Tools.succeed("quake-ingest", arguments)
    return try String(contentsOfFile: file, encoding: .utf8)
  }

  /// The simulator as a server, and as a writer of files.
  @Test func theSimulatorServesAndWrites() throws {
    let simulator = try Tools.start(
      "quake-ingest", ["simulate", "--port", "0", "--events", "50", "--seed", "7"])
    let line = try simulator.line()
    #expect(line.hasPrefix("simulating 50 events at http://127.0.0.1:"))
    let example = try simulator.line()
    let url = try #require(example.split(separator: " ").last.map(String.init))
    let port = try #require(URL(string: url)?.port)
    #expect(try !HTTP.get("/earthquakes/feed/v1.0/summary/all_month.geojson", port: port).isEmpty)
    // The port is taken.
    let second = try Tools.run("quake-ingest", ["simulate", "--port", "\(port)"])
    #expect(second.status == 69)
    simulator.signal(SIGTERM)
    #expect(try simulator.exit().ending == .exited(0))
    let folder = try TemporaryFolder()
    let file = folder.path + "/a.geojson"
    try Tools.succeed("quake-ingest", ["simulate", "--events", "50", "--output", file])
    #expect(try Feeds.events(file).count == 50)
    for arguments in [
      ["--fault", "rain"], ["--events", "-1"], ["--port", "70000"], ["--start", "2999-01-01"],
      ["--start", "soon"],
    ] {
      #expect(try Tools.run("quake-ingest", ["simulate"] + arguments).status == 64)
    }
  }
}
