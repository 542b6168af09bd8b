import Foundation
import TestSupport
import Testing

/// Help, version and usage errors of every tool.
@Suite struct CommandLineTests {
  private static let commands = [
    "quake-ingest", "quake-ingest run", "quake-ingest import", "quake-ingest replay",
    "quake-ingest backfill", "quake-ingest simulate",
    "quake-watch", "quake-admin", "quake-admin status", "quake-admin imports",
    "quake-admin refresh", "quake-admin migrate", "quake-admin server",
    "quake-admin server start", "quake-admin server stop", "quake-admin server status",
    "quake-admin server psql", "quake-query", "quake-query history", "quake-query list",
    "quake-query diff", "quake-query versions", "quake-query show", "quake-query verify",
  ]

  private static func run(_ command: String, _ arguments: String...) throws -> ToolProcess.Outcome {
    let words = command.split(separator: " ").map(String.init)
    return try Tools.run(words[0], words.dropFirst() + arguments)
  }

  @Test func helpIsOnStandardOutput() throws {
    for command in Self.commands + ["quake-serve", "quake-admin events delete"] {
      let long = try Self.run(command, "--help")
      #expect(long.status == 0 && long.errors.isEmpty, "\(command)")
      // The arguments for psql come last, so the options of quake-admin are before it.
      let isPassedOn = command == "quake-admin server psql"
      let usage = isPassedOn ? "quake-admin server [OPTION]... psql" : command
      for words in ["Usage:\n  \(usage)", "--help"] {
        #expect(long.output.contains(words), "\(long.output)")
      }
      #expect(long.lines.allSatisfy { $0.count <= 80 }, "\(command): no wider than a terminal")
      #expect(
        long.output.hasSuffix(
          "\nReport problems at https://github.com/quake-project/quake/issues.\n"), "\(command)")
      // Before the command it is the same.
      let words = command.split(separator: " ").map(String.init)
      #expect(try Tools.run(words[0], ["help"] + words.dropFirst()).output == long.output)
    }
    #expect(try Self.run("quake-watch", "-h").output == Self.run("quake-watch", "--help").output)
  }

  @Test func eachToolTellsItsVersionAndRefusesAWrongOption() throws {
    let schema = try TestDatabase().value("select max(version) from quake.migration")
    for tool in ["quake-ingest", "quake-watch", "quake-query", "quake-admin", "quake-serve"] {
      let version = try Self.run(tool, "--version")
      #expect(version.status == 0 && version.errors.isEmpty, "\(version.errors)")
      let form =
        #/(\S+) \d+\.\d+\.\d+ \(commit (?:[0-9a-f]{8,}(?:-dirty)?|unknown), schema (\d+)\)\n/#
      let words = version.output.wholeMatch(of: form)
      #expect(words?.1 == tool[...] && words?.2 == schema[...], "\(version.output)")
      let wrong = try Self.run(tool, "--no-such-option")
      #expect(wrong.status == 64 && wrong.output.isEmpty, "\(wrong.errors)")
      #expect(wrong.errors.hasPrefix("\(tool): error: unknown option '--no-such-option'"))
    }
  }

  @Test func theLedgerOfMigrationsNamesTheProgramThatAppliedThem() throws {
    let database = try TestDatabase.empty()
    try Tools.succeed("quake-admin", ["migrate"] + database.option)
    let version = try Tools.run("quake-admin", ["--version"]).output
    let program = version.prefix { $0 != "," } + ")"
    #expect(try database.column("select distinct program from quake.migration") == ["\(program)"])
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
