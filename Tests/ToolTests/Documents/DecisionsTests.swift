import Foundation
import TestSupport
import Testing

/// The table of docs/decisions/README.md lists the decisions of the documents beside it.
@Suite struct DecisionsTests {
  private static let folder = Tools.package + "/docs/decisions/"

  private static func text(of document: String) throws -> String {
    try String(contentsOfFile: folder + document, encoding: .utf8)
  }

  /// The documents that hold decisions.
  private static func documents() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).filter {
      $0.hasSuffix(".md") && $0 != "README.md"
    }
  }

  @Test func theTableListsEveryDecision() throws {
    let listed = try Self.text(of: "README.md").split(separator: "\n").compactMap { line in
      line.wholeMatch(of: /\| (\d+) \| (.+) \| \[(\w+)\]\((\w+\.md)\) \|/).map { row in
        "\(row.1). \(row.2) (\(row.3), \(row.4))"
      }
    }
    var decided: [(number: Int, text: String)] = []
    for document in try Self.documents() {
      for line in try Self.text(of: document).split(separator: "\n") {
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
    for document in try Self.documents() {
      let decisions = try Self.text(of: document).components(separatedBy: "\n## ").dropFirst()
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
