import Foundation
import TestSupport
import Testing

/// The questions and answers of README.md: each command prints what is shown below it. Times and tokens, which
/// differ from run to run, count as equal; a line `...` stands for any lines.
@Suite struct AnswerTests {
  private struct Answer {
    var command: String
    var lines: [String] = []
  }

  private static func answers() throws -> [Answer] {
    let text = try String(contentsOfFile: Tools.package + "/README.md", encoding: .utf8)
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

  @Test func eachCommandGivesTheAnswerThatIsShown() throws {
    let database = try TestDatabase()
    let folder = try TemporaryFolder()
    let environment = ["DATABASE_URL": database.conninfo]
    func run(_ command: String) throws -> String {
      let outcome = try Tools.shell(command, environment: environment, folder: folder.path)
      #expect(outcome.status == 0, "\(command): \(outcome.errors)")
      return outcome.output
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
