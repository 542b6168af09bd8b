import Foundation
import TestSupport
import Testing

/// The examples in docs/schema.md work.
@Suite struct SchemaDocumentTests {
  /// The blocks fenced by "```sql".
  private static func examples() throws -> [String] {
    let text = try String(contentsOfFile: Tools.package + "/docs/schema.md", encoding: .utf8)
    return text.components(separatedBy: "```sql\n").dropFirst().map { block in
      block.components(separatedBy: "```")[0]
    }
  }

  /// In their order, in one database, with the events that the document begins with.
  @Test func examplesWork() throws {
    let database = try TestDatabase()
    let folder = try TemporaryFolder()
    let file = folder.path + "/quakes.geojson"
    for arguments in [
      ["simulate", "--events", "200", "--output", file], ["import", file] + database.option,
    ] {
      #expect(try Tools.run("quake-ingest", arguments).status == 0)
    }
    let examples = try Self.examples()
    #expect(examples.count > 8)
    // Fails, with the statement, at the first error.
    for example in examples { try database.psql(example, options: ["--echo-errors"]) }
  }
}
