import Foundation
import TestSupport
import Testing

/// The table of attacks in docs/security.md names tests that exist, and that run on both versions of PostgreSQL where
/// the table says so.
@Suite struct NamedTestTests {
  private struct Attack {
    let name: String
    let servers: String
    /// The tests as the table names them: `Suite.test`, or `Folder/Suite.test`.
    let tests: [String]
  }

  private static func attacks() throws -> [Attack] {
    let text = try contents(of: Tools.package + "/docs/security.md")
    let parts = text.components(separatedBy: "\n## Attacks\n")
    try #require(parts.count == 2)
    let section = parts[1].components(separatedBy: "\n## ")[0]
    let rows = section.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }
    return try rows.dropFirst(2).map { row in
      let cells = row.components(separatedBy: " | ")
      try #require(cells.count == 4, "\(row)")
      let tests = cells[3].components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
      return Attack(
        name: String(cells[0].dropFirst(2)), servers: cells[2], tests: tests.map(\.element))
    }
  }

  /// The parameters of a test, as they are declared; nil if there is no such test.
  private static func parameters(of test: String, in files: [String]) throws -> String? {
    let names = test.components(separatedBy: ".")
    try #require(names.count == 2, "\(test)")
    let path = names[0].components(separatedBy: "/")
    for file in files
    where file.hasSuffix("/\(path[path.count - 1]).swift")
      && (path.count == 1 || file.hasPrefix(path[0] + "/"))
    {
      let text = try contents(of: Tools.package + "/Tests/" + file)
      let parts = text.components(separatedBy: "func \(names[1])(")
      if parts.count == 2 { return String(parts[1].prefix { $0 != ")" }) }
    }
    return nil
  }

  @Test func eachAttackHasATestThatExists() throws {
    let files = try FileManager.default.subpathsOfDirectory(atPath: Tools.package + "/Tests")
    let attacks = try Self.attacks()
    #expect(attacks.count > 50)
    for attack in attacks {
      #expect(["both", "any"].contains(attack.servers), "\(attack.name)")
      #expect(!attack.tests.isEmpty, "no test of: \(attack.name)")
      for test in attack.tests {
        guard let parameters = try Self.parameters(of: test, in: files) else {
          Issue.record("there is no test \(test)")
          continue
        }
        let isOnBoth =
          parameters.contains("ServerVersion") || parameters.contains("_ other: Bool")
        #expect(isOnBoth || attack.servers == "any", "\(test) runs on one server")
      }
    }
  }
}
