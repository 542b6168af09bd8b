import Foundation
import TestSupport
import Testing

/// The table of docs/decisions/README.md lists the decisions of the documents beside it.
@Suite struct DecisionsTests {
  private static let folder = Tools.package + "/docs/decisions/"

  private static func lines(of document: String) throws -> [Substring] {
    try String(contentsOfFile: folder + document, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
  }

  @Test func theTableListsEveryDecision() throws {
    let listed = try Self.lines(of: "README.md").compactMap { line in
      line.wholeMatch(of: /\| (\d+) \| (.+) \| \[(\w+)\]\((\w+\.md)\) \|/).map { row in
        "\(row.1). \(row.2) (\(row.3), \(row.4))"
      }
    }
    var decided: [(number: Int, text: String)] = []
    for document in try FileManager.default.contentsOfDirectory(atPath: Self.folder)
    where document.hasSuffix(".md") && document != "README.md" {
      for line in try Self.lines(of: document) {
        guard let heading = line.wholeMatch(of: /## (\d+)\. (.+)/) else { continue }
        let number = try #require(Int(heading.1))
        let name = document.dropLast(3)
        decided.append((number, "\(number). \(heading.2) (\(name), \(document))"))
      }
    }
    decided.sort { $0.number < $1.number }
    #expect(decided.map(\.number) == Array(1...decided.count))
    #expect(listed == decided.map(\.text))
  }

  @Test func everyDecisionHasItsFourParts() throws {
    for document in try FileManager.default.contentsOfDirectory(atPath: Self.folder)
    where document.hasSuffix(".md") && document != "README.md" {
      let text = try Self.lines(of: document).joined(separator: "\n")
      let decisions = text.components(separatedBy: "\n## ").dropFirst()
      #expect(!decisions.isEmpty, "\(document)")
      for decision in decisions {
        let parts = decision.matches(of: #/\n\*\*(\w+)\.\*\*\s/#).map { String($0.1) }
        #expect(
          parts == ["Context", "Decision", "Rejected", "Consequence"],
          "\(document): \(decision.prefix(60))")
      }
    }
  }
}
