import Foundation
import TestSupport
import Testing

/// docs/guarantees.md names tests that exist.
@Suite struct GuaranteesDocumentTests {
  /// The names in code spans of the paragraphs that begin with "**Tests.**", written as
  /// `Folder/Suite.function`, split at slashes and full stops.
  private static func named(in text: String) -> [String] {
    let paragraphs = text.components(separatedBy: "\n\n").filter { $0.hasPrefix("**Tests.**") }
    let spans = paragraphs.flatMap { paragraph in
      paragraph.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }
    }
    return spans.map(\.element).filter { span in
      span.utf8.allSatisfy { isOfName($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") }
    }.flatMap { $0.components(separatedBy: ["/", "."]) }
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  @Test func everyTestItNamesExists() throws {
    let folder = Tools.package + "/Tests"
    var known: Set<String> = ["Tests"]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      if path.hasSuffix(".swift") {
        let text = try String(contentsOfFile: folder + "/" + path, encoding: .utf8)
        known.formUnion(text.utf8.split { !Self.isOfName($0) }.map { String(Substring($0)) })
      } else {
        known.insert((path as NSString).lastPathComponent)
      }
    }
    let document = try String(
      contentsOfFile: Tools.package + "/docs/guarantees.md", encoding: .utf8)
    let names = Self.named(in: document)
    #expect(names.count > 100)
    for name in names { #expect(known.contains(name), "there is no test \(name)") }
  }
}
