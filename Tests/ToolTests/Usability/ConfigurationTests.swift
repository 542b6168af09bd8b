import Foundation
import TestSupport
import Testing

/// `quake-ingest run --config`: the file may give the same options as the command line.
@Suite struct ConfigurationTests {
  private let database: TestDatabase
  private let folder: TemporaryFolder
  private let feed: String

  init() throws {
    database = try TestDatabase()
    folder = try TemporaryFolder()
    feed = try folder.write("a.geojson", Feeds.collection(count: 3))
  }

  private func run(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> ToolProcess.Outcome {
    try Tools.run("quake-ingest", ["run"] + arguments, environment: environment)
  }

  // MARK: The same as flags

  @Test func aFileDoesWhatFlagsDo() throws {
    let other = try TestDatabase()
    let second = try folder.write("b.geojson", Feeds.collection(count: 2, from: 11))
    let flags = try run(
      ["--once", "--feed", feed, "--feed", second, "--author", "ada", "--commit-every", "1"]
        + ["--no-migrate", "--log-format", "json"] + database.option)
    let file = try folder.write(
      "q.conf",
      """
      database = \(other.conninfo)
      once = yes
      feed = \(feed)
             \(second)
      author = ada
      commit-every = 1
      migrate = no
      log-format = json
      """)
    let configured = try run(["--config", file])
    #expect(flags.status == 0 && configured.status == 0, "\(configured.errors)")
    for query in [
      "select author from quake.change_transaction order by token",
      "select concat_ws(' ', feed, source, seen, inserted) from quake.import order by id",
      "select code from quake.quake order by code", "select name from quake.feed order by name",
    ] {
      #expect(try database.column(query) == other.column(query))
    }
    #expect(try other.count("quake.change_transaction") == 5)
    let messages = { (errors: String) in
      try errors.split(separator: "\n").map { try JSONLine(String($0)).string("level") }
    }
    #expect(try messages(flags.errors) == messages(configured.errors))
  }

  @Test func theCommandLineOverridesTheFileAndTheFileTheEnvironment() throws {
    let other = try TestDatabase()
    let file = try folder.write(
      "q.conf", "once = yes\nfeed = \(feed)\ndatabase = \(database.conninfo)\nauthor = file\n")
    let environment = ["DATABASE_URL": "host=/nonexistent", "QUAKE_CONFIG": file]
    try run([], environment: environment).expect(0)
    #expect(try database.value("select author from quake.change_transaction") == "file")
    #expect(try run(["--author", "flag"] + other.option, environment: environment).status == 0)
    #expect(try other.value("select author from quake.change_transaction") == "flag")
    // `--config` overrides `QUAKE_CONFIG`; an empty `QUAKE_CONFIG` names no file.
    let empty = try folder.write("empty.conf", "once = yes\n")
    #expect(try run(["--config", empty, "--feed", feed], environment: environment).status == 69)
    #expect(
      try run(
        ["--once", "--feed", feed] + database.option,
        environment: ["QUAKE_CONFIG": ""]
      ).status == 0)
  }

  // MARK: Errors

  @Test func errorsNameFileLineKeyAndWhatWasExpected() throws {
    for (text, words) in [
      ("once = yes\nevry = 5m", ["q.conf:2: unknown key 'evry'", "did you mean 'every'?"]),
      ("merge = incomming", ["q.conf:1: invalid value", "did you mean 'incoming'?"]),
    ] {
      let file = try folder.write("q.conf", text + "\n")
      let outcome = try run(["--config", file, "--feed", feed] + database.option).expect(
        64, with: text)
      for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
    }
    // Also for errors that a library finds.
    for (text, words, status) in [
      ("feed = all_hou", "q.conf:2: key 'feed': unknown feed \"all_hou\"", 64),
      ("database = hst=a", "q.conf:2: key 'database': invalid connection string", 69),
    ] as [(String, String, Int32)] {
      let file = try folder.write("q.conf", "once = yes\n\(text)\n")
      try run(["--config", file], environment: ["DATABASE_URL": database.conninfo]).expect(
        status, words)
    }
    try run(["--config", folder.path + "/none"]).expect(64, "No such file or directory")
    // In the log format that the file itself sets.
    let file = try folder.write("q.conf", "log-format = json\nevry = 5m\n")
    let line = try JSONLine(run(["--config", file]).errors)
    #expect(line.string("message")?.contains("q.conf:2: unknown key 'evry'") == true)
  }

  // MARK: Files in deploy

  @Test func theExampleWorksAndNamesEveryOption() throws {
    let example = try ExampleFile("quake-ingest.conf")
    let file = try folder.write("q.conf", example.text)
    try run(["--config", file, "--once", "--feed", feed] + database.option).expect(0)
    #expect(try database.count("quake.quake") == 3)
    try example.expectEveryOption(of: "quake-ingest", "run")
    // Unmodified, it sets no option.
    try run(
      ["--config", Tools.package + "/deploy/quake-ingest.conf", "--once", "--feed", feed]
        + database.option
    ).expect(0)
  }
}
