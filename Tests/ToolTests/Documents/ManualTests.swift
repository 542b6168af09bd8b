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
      let text = try String(contentsOfFile: Tools.package + "/" + name, encoding: .utf8)
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

  @Test func blocksAndTheirExcusesAreFound() {
    let text = """
      ```sh
      one
      two
      ```
      <!-- not run: needs root -->
      ```sh
      three
      ```
      <!-- not run: too far above -->

      ```sh
      four
      ```
      <!-- run with ADMIN_URL and DATABASE_URL -->
      ```sh
      five
      ```
      ```console
      $ six
      ```
      """
    let examples = Self.examples(in: text, of: "docs/example.md")
    #expect(examples.map(\.commands) == ["one\ntwo\n", "three\n", "four\n", "five\n"])
    #expect(examples.map(\.excuse) == [nil, "needs root", nil, nil])
    #expect(examples.map(\.variables) == [[], [], [], ["ADMIN_URL", "DATABASE_URL"]])
    #expect(
      examples.map(\.testDescription)
        == [
          "docs/example.md:1", "docs/example.md:6", "docs/example.md:11",
          "docs/example.md:15",
        ])
  }
}
