import Foundation
import TestSupport
import Testing

@testable import QuakeSchema

/// docs/security.md shows the table of privileges and the settings as they are. `QUAKE_WRITE_DOCS=1`
/// rewrites them.
@Suite(.serialized) struct DocumentationTests {
  private static let path = Tools.package + "/docs/security.md"

  @Test(arguments: ["privileges", "settings"])
  func theDocumentOfSecurityHasThePrivilegesOfTheTable(_ part: String) throws {
    let table =
      part == "privileges" ? PrivilegeMatrix.markdown : PrivilegeMatrix.settingsMarkdown
    let begin =
      "<!-- \(part): made from Sources/QuakeSchema/Roles; QUAKE_WRITE_DOCS=1 writes it anew -->\n"
    let end = "<!-- end of \(part) -->"
    let text = try String(contentsOfFile: Self.path, encoding: .utf8)
    let start = try #require(text.range(of: begin))
    let stop = try #require(text.range(of: end, range: start.upperBound..<text.endIndex))
    if ProcessInfo.processInfo.environment["QUAKE_WRITE_DOCS"] == "1" {
      try text.replacingCharacters(in: start.upperBound..<stop.lowerBound, with: table)
        .write(toFile: Self.path, atomically: true, encoding: .utf8)
    } else {
      #expect(text[start.upperBound..<stop.lowerBound] == table)
    }
  }
}
