import EmbeddedPostgres
import Foundation
import Postgres
import TestSupport
import Testing

/// The examples in README.md and in the manual (docs/*.md) do what they show.
@Suite struct ManualTests {
  /// A block of shell commands.
  struct Example: Sendable, CustomTestStringConvertible {
    var document: String
    var line: Int
    var commands: String
    /// Why the block is not run, if it says so.
    var excuse: String?
    /// The variables that it runs with, which lead to a server of its own.
    var variables: [String] = []

    var testDescription: String { "\(document):\(line)" }
  }

  /// The documents that must have at least one example that is run, in the order of the manual.
  private static let tasks = [
    "README.md", "docs/importing.md", "docs/watching.md", "docs/querying.md", "docs/sql.md",
    "docs/operating.md", "docs/alerting.md",
  ]

  /// Blocks fenced by "```sh"; `<!-- not run: reason -->` in the line above excuses one, and
  /// `<!-- run with DATABASE_URL -->` names its variables.
  static func examples(in text: String, of document: String) -> [Example] {
    var examples: [Example] = []
    var excuse: String?
    var variables: [String] = []
    var isInside = false
    for (index, line) in text.components(separatedBy: "\n").enumerated() {
      if isInside {
        if line.hasPrefix("```") {
          isInside = false
        } else {
          examples[examples.count - 1].commands += line + "\n"
        }
      } else if line == "```sh" {
        examples.append(
          Example(
            document: document, line: index + 1, commands: "", excuse: excuse, variables: variables)
        )
        isInside = true
        (excuse, variables) = (nil, [])
      } else if let match = line.wholeMatch(of: /<!-- not run: (.+) -->/) {
        excuse = String(match.1)
      } else if let match = line.wholeMatch(of: /<!-- run with (.+) -->/) {
        variables = match.1.matches(of: /[A-Z_]+/).map { String($0.0) }
      } else {
        (excuse, variables) = (nil, [])
      }
    }
    return examples
  }

  /// README.md and every page of the manual, each with its examples; those of `tasks` first.
  private static func documents() throws -> [(name: String, examples: [Example])] {
    let pages = try FileManager.default.contentsOfDirectory(atPath: Tools.package + "/docs")
      .filter { $0.hasSuffix(".md") }.map { "docs/" + $0 }.sorted()
    let names = tasks + pages.filter { !tasks.contains($0) }
    return try names.map { name in
      let text = try contents(of: Tools.package + "/" + name)
      return (name, examples(in: text, of: name))
    }
  }

  /// A server as an administrator finds it: no database of Quake's, and none of its roles.
  private final class EmptyServer {
    private let server: EmbeddedServer
    let variables: [String: String]

    init(home: String) throws {
      server = try EmbeddedServer(EmbeddedServer.Options(home: home))
      try server.start()
      let host = try #require(
        server.conninfo.split(separator: " ").first { $0.hasPrefix("host=") }?.dropFirst(5)
          .addingPercentEncoding(withAllowedCharacters: .alphanumerics))
      variables = [
        "ADMIN_URL": "postgres", "DATABASE_URL": "quake", "RESTORED_URL": "quake_restored",
      ].mapValues { "postgresql://quake@/\($0)?host=\(host)" }
      let administrator = try Connection(
        ConnectionSettings(variables["ADMIN_URL"] ?? "", applicationName: "administrator"))
      try administrator.execute("drop database quake")
    }

    deinit { _ = try? server.stop(mode: .immediate) }
  }

  /// In their order and with one server, as a reader would run them; each document begins in an empty
  /// folder.
  @Test func theExamplesOfTheManualWork() throws {
    let folder = try TemporaryFolder()
    let home = folder.path + "/server"
    let server = try EmbeddedServer(EmbeddedServer.Options(home: home))
    defer { _ = try? server.stop(mode: .immediate) }
    let empty = try EmptyServer(home: folder.path + "/empty")
    for document in try Self.documents() {
      let runnable = document.examples.filter { $0.excuse == nil }
      #expect(
        !runnable.isEmpty || !Self.tasks.contains(document.name),
        "\(document.name) has no example that is run")
      let work = folder.path + "/" + document.name.replacing("/", with: "-")
      try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: false)
      for example in runnable {
        let variables = empty.variables.filter { example.variables.contains($0.key) }
        #expect(variables.count == example.variables.count, "\(example.testDescription)")
        let process = try Tools.startShell(
          example.commands, environment: ["QUAKE_SERVER_HOME": home].merging(variables) { $1 },
          folder: work)
        do {
          let outcome = try process.exit()
          #expect(
            outcome.status == 0,
            "\(example.testDescription) ended with \(outcome.ending)\n\(outcome.errors)")
        } catch {
          Issue.record("\(example.testDescription): \(error)")
        }
      }
    }
  }

  // MARK: - SQL

  /// The blocks fenced by "```sql".
  private static func sqlExamples(of document: String) throws -> [String] {
    let text = try contents(of: Tools.package + "/docs/" + document)
    return text.components(separatedBy: "```sql\n").dropFirst().map { block in
      block.components(separatedBy: "```")[0]
    }
  }

  /// In their order, in one database with 200 events.
  @Test(arguments: [("schema.md", 9), ("operating.md", 2), ("importing.md", 1), ("recipes.md", 6)])
  func theSQLExamplesOfTheDocumentsWork(document: String, least: Int) throws {
    let database = try TestDatabase()
    let folder = try TemporaryFolder()
    let file = folder.path + "/quakes.geojson"
    for arguments in [
      ["simulate", "--events", "200", "--output", file], ["import", file] + database.option,
    ] {
      try Tools.succeed("quake-ingest", arguments)
    }
    let examples = try Self.sqlExamples(of: document)
    #expect(examples.count >= least)
    // Fails, with the statement, at the first error.
    for example in examples { try database.psql(example, options: ["--echo-errors"]) }
  }

  // MARK: - The questions and answers of README.md

  private struct Answer {
    var command: String
    var lines: [String] = []
  }

  private static func answers() throws -> [Answer] {
    let text = try contents(of: Tools.package + "/README.md")
    let block = try #require(
      text.components(separatedBy: "<!-- answers -->\n```console\n").last?
        .components(separatedBy: "\n```").first)
    var answers: [Answer] = []
    for line in block.components(separatedBy: "\n") where !line.hasPrefix("# ") {
      if line.hasPrefix("$ ") {
        answers.append(Answer(command: String(line.dropFirst(2))))
      } else {
        answers[answers.count - 1].lines.append(line)
      }
    }
    return answers
  }

  /// The line without what differs from run to run.
  private static func steady(_ line: String) -> String {
    line.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/, with: "TIME")
      .replacing(/\b\d+\.[0-9a-f]{8}\b/, with: "TOKEN")
  }

  /// Each command prints what is shown below it. Times and tokens, which differ from run to run, count as equal; a
  /// line `...` stands for any lines.
  @Test func eachCommandGivesTheAnswerThatIsShown() throws {
    let database = try TestDatabase()
    let folder = try TemporaryFolder()
    let environment = ["DATABASE_URL": database.conninfo]
    func run(_ command: String) throws -> String {
      try Tools.shell(command, environment: environment, folder: folder.path).expect(
        0, with: command
      ).output
    }
    _ = try run(
      "quake-ingest simulate --events 2000 --seed 7 --start '2 days ago' -o quakes.geojson")
    _ = try run("quake-ingest import quakes.geojson")
    try database.psql("update quake.change_transaction set at = at - interval '2 days'")
    _ = try run("quake-admin events set magnitude=5.0 simus6000abav --author alice --yes")
    let answers = try Self.answers()
    #expect(answers.count == 7)
    for answer in answers {
      var printed = try run(answer.command).split(
        separator: "\n", omittingEmptySubsequences: false
      ).map { Self.steady(String($0)) }
      if printed.last == "" { printed.removeLast() }
      var shown = answer.lines.map(Self.steady)
      if shown.last == "..." {
        shown.removeLast()
        #expect(printed.count > shown.count, "\(answer.command) prints no more than is shown")
        printed = Array(printed.prefix(shown.count))
      }
      #expect(printed == shown, "\(answer.command)")
    }
  }
}
