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
  @Test(arguments: [("schema.md", 9), ("operating.md", 2), ("importing.md", 1), ("recipes.md", 6)])
  func theSQLExamplesOfTheDocumentsWork(document: String, least: Int) throws {
    let database = try TestDatabase()
    let folder = try TemporaryFolder()
    let file = folder.path + "/quakes.geojson"
    for arguments in [
      ["simulate", "--events", "200", "--output", file], ["import", file] + database.option,
    ] {
      try Tools.succeed("quake-ingest", arguments)
    }
    let examples = try Self.examples(of: document)
    #expect(examples.count >= least)
    // Fails, with the statement, at the first error.
    for example in examples { try database.psql(example, options: ["--echo-errors"]) }
  }

  /// The picture in schema.md has the foreign keys of the schema as solid lines, no others, and only tables
  /// that there are.
  @Test func thePictureHasTheForeignKeys() throws {
    let database = try TestDatabase()
    let text = try String(contentsOfFile: Tools.package + "/docs/schema.md", encoding: .utf8)
    let picture = try #require(text.components(separatedBy: "erDiagram\n").dropFirst().first)
      .components(separatedBy: "```")[0]
    let lines = picture.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
      .filter { $0.count == 5 && $0[3] == ":" }
    let keys = lines.filter { $0[1].contains("--") }.map { "\($0[2]).\($0[4]) -> \($0[0])" }
    #expect(
      try database.column(
        """
        select c.relname || '.' || a.attname || ' -> ' || f.relname
          from pg_constraint k
          join pg_class c on c.oid = k.conrelid
          join pg_class f on f.oid = k.confrelid
          join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
         where k.contype = 'f' and k.connamespace = 'quake'::regnamespace
         order by 1
        """) == keys.sorted())
    // A dotted line ends at a column that the table has.
    #expect(lines.count > keys.count)
    for line in lines {
      #expect(
        try database.value(
          """
          select count(*) from pg_attribute
           where attrelid = to_regclass('quake.\(line[2])') and attname = '\(line[4])'
          """) == "1", "\(line)")
    }
  }
}
