import Foundation
import TestSupport
import Testing

/// ARCHITECTURE.md, CONTRIBUTING.md and docs/ name files, folders and types that exist.
@Suite struct DocumentNamesTests {
  private static let documents: [String] = {
    let docs = (try? FileManager.default.subpathsOfDirectory(atPath: Tools.package + "/docs")) ?? []
    return ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md"]
      + docs.filter { $0.hasSuffix(".md") }.map { "docs/" + $0 }
  }()

  /// The code spans of a document, outside blocks of code.
  private static func spans(of document: String) throws -> [String] {
    let text = try String(contentsOfFile: Tools.package + "/" + document, encoding: .utf8)
    let prose = text.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 0 }
    return prose.flatMap { part in
      part.element.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
    }.map(\.element)
  }

  /// Folders of the package that a path may begin in.
  private static let roots = ["", "Sources/", "Tests/"]

  private static func exists(_ path: String) -> Bool {
    roots.contains { FileManager.default.fileExists(atPath: Tools.package + "/" + $0 + path) }
  }

  @Test func everyPathTheyNameExists() throws {
    var count = 0
    for document in Self.documents {
      for span in try Self.spans(of: document) {
        guard let path = span.wholeMatch(of: /[A-Za-z][A-Za-z0-9_.+-]*\/[A-Za-z0-9_.+\/-]*/)?.0,
          let folder = path.split(separator: "/").first.map(String.init)
        else { continue }
        // Another test checks the names of tests, written as folder and suite. A script creates the
        // secrets.
        let isOfTest = folder.hasSuffix("Tests") && !path.hasSuffix(".swift")
        guard Self.exists(folder), !isOfTest, path != "deploy/secrets" else { continue }
        count += 1
        #expect(Self.exists(String(path)), "\(document) names \(path)")
      }
    }
    #expect(count > 40)
  }

  @Test func everyTypeThatTheArchitectureNamesExists() throws {
    var words: Set<String> = []
    for folder in ["Sources", "Tests"] {
      let path = Tools.package + "/" + folder
      for file in try FileManager.default.subpathsOfDirectory(atPath: path) {
        words.formUnion(file.split(separator: "/").map(String.init))
      }
      let pattern = #"\b(struct|enum|class|protocol|actor)\s+[A-Z]\w*"#
      let types = try Tools.shell("grep -rhoE --include='*.swift' '\(pattern)' '\(path)'")
      words.formUnion(types.lines.compactMap { $0.split(separator: " ").last.map(String.init) })
    }
    let names = try Self.spans(of: "ARCHITECTURE.md").filter {
      $0.wholeMatch(of: /[A-Z]+[a-z]\w*[A-Z]\w*/) != nil && $0 != "Sendable"
    }
    #expect(names.count > 30)
    for name in names { #expect(words.contains(name), "there is no type \(name)") }
  }
}
