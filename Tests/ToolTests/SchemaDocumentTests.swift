import Foundation
import TestSupport
import Testing

/// The SQL examples of the documents work.
@Suite struct SchemaDocumentTests {
  /// The blocks fenced by "```sql".
  private static func examples(of document: String) throws -> [String] {
    let text = try String(contentsOfFile: Tools.package + "/docs/" + document, encoding: .utf8)
    return text.components(separatedBy: "```sql\n").dropFirst().map { block in
      block.components(separatedBy: "```")[0]
    }
  }

  /// In their order, in one database with 200 events.
  @Test(arguments: [("schema.md", 9), ("operating.md", 2), ("importing.md", 1)])
  func examplesWork(document: String, least: Int) throws {
    let database = try TestDatabase()
    let folder = try TemporaryFolder()
    let file = folder.path + "/quakes.geojson"
    for arguments in [
      ["simulate", "--events", "200", "--output", file], ["import", file] + database.option,
    ] {
      #expect(try Tools.run("quake-ingest", arguments).status == 0)
    }
    let examples = try Self.examples(of: document)
    #expect(examples.count >= least)
    // Fails, with the statement, at the first error.
    for example in examples { try database.psql(example, options: ["--echo-errors"]) }
  }
}
