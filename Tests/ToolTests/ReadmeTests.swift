import EmbeddedPostgres
import Foundation
import TestSupport
import Testing

/// The examples in README.md do what they show.
@Suite struct ReadmeTests {
  /// A block of shell commands.
  struct Example: Sendable, CustomTestStringConvertible {
    var line: Int
    var commands: String
    /// Why it is not run, if it says so.
    var excuse: String?

    var testDescription: String { "README.md:\(line)" }
  }

  /// Blocks fenced by "```sh"; `<!-- not run: reason -->` in the line above excuses one.
  static func examples(in text: String) -> [Example] {
    var examples: [Example] = []
    var excuse: String?
    var isInside = false
    for (index, line) in text.components(separatedBy: "\n").enumerated() {
      if isInside {
        if line.hasPrefix("```") {
          isInside = false
        } else {
          examples[examples.count - 1].commands += line + "\n"
        }
      } else if line == "```sh" {
        examples.append(Example(line: index + 1, commands: "", excuse: excuse))
        isInside = true
        excuse = nil
      } else if let match = line.wholeMatch(of: /<!-- not run: (.+) -->/) {
        excuse = String(match.1)
      } else {
        excuse = nil
      }
    }
    return examples
  }

  private static func readme() throws -> [Example] {
    examples(in: try String(contentsOfFile: Tools.package + "/README.md", encoding: .utf8))
  }

  /// In their order, in one folder and with one server, as somebody would who reads on.
  @Test func examplesWork() throws {
    let examples = try Self.readme()
    let runnable = examples.filter { $0.excuse == nil }
    try #require(!runnable.isEmpty, "README.md has no example that is run")
    let folder = try TemporaryFolder()
    let work = folder.path + "/work"
    let home = folder.path + "/server"
    try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: false)
    let server = try EmbeddedServer(EmbeddedServer.Options(home: home))
    defer { _ = try? server.stop(mode: .immediate) }
    for example in runnable {
      let process = try Tools.startShell(
        example.commands, environment: ["QUAKE_SERVER_HOME": home], folder: work)
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

  @Test func blocksAreFoundAsTheyAreWritten() {
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
      ```console
      $ five
      ```
      """
    let examples = Self.examples(in: text)
    #expect(examples.map(\.commands) == ["one\ntwo\n", "three\n", "four\n"])
    #expect(examples.map(\.excuse) == [nil, "needs root", nil])
    #expect(examples.map(\.line) == [1, 6, 11])
  }
}
