import TestSupport
import Testing

/// Events that their agency deletes and revives, and event types, from files to lists and watchers.
@Suite final class DeletedByAgencyTests: ToolSuite {
  /// Imports a text, and returns the counts.
  private func load(_ text: String, _ arguments: String...) throws -> JSONLine {
    let file = try folder.write("feed", text)
    let outcome = try database.succeed("quake-ingest", ["import", "--json"] + arguments + [file])
    return try JSONLine(try #require(outcome.lines.first))
  }

  private func list(_ arguments: String...) throws -> [String] {
    try database.succeed("quake-query", ["list", "--json"] + arguments).lines.map {
      try JSONLine($0).string("code") ?? ""
    }.sorted()
  }

  /// The codes of the changes that pass, each with the magnitude after it.
  private func watch(_ arguments: String...) throws -> [String] {
    let outcome = try database.succeed(
      "quake-watch", ["--json", "--from-start", "--no-follow"] + arguments)
    return try outcome.lines.map { line in
      let change = try JSONLine(line)
      let magnitude = change["new"]?.double("magnitude") ?? 0
      return "\(change.string("op") ?? "") \(change.string("code") ?? "") \(magnitude)"
    }
  }

  private static func quake(_ id: String, _ magnitude: Double, mmi: Int, _ quality: String)
    -> String
  {
    #"{"type":"Feature","geometry":{"type":"Point","coordinates":[175.5,-39.5]},"properties":{"#
      + #""publicID":"\#(id)","time":"2026-01-02T03:04:05Z","depth":9,"magnitude":\#(magnitude),"#
      + #""mmi":\#(mmi),"locality":"Here","quality":"\#(quality)"}}"#
  }

  @Test func anEventThatGeoNetDeletesLeavesEveryListUntilItIsRevived() throws {
    _ = try load(Feeds.collection([Self.quake("a", 5.9, mmi: 5, "preliminary")]))
    let second = try load(
      Feeds.collection([
        Self.quake("a", 5.9, mmi: -1, "deleted"), Self.quake("b", 3.4, mmi: -1, "best"),
        Self.quake("c", 4.4, mmi: -1, "deleted"),
      ]))
    #expect(second.integer("inserted") == 1 && second.integer("withdrawn") == 1)
    #expect(try list() == ["geonet:b"])
    #expect(try list("--withdrawn") == ["geonet:a", "geonet:b"])
    #expect(try list("--withdrawn", "--status", "deleted") == ["geonet:a"])
    #expect(
      try database.column("select coalesce(mmi::text, '-') from quake.quake order by code")
        == ["5", "-"])
    #expect(try watch("--leaves") == ["update geonet:a 5.9"])

    let third = try load(Feeds.collection([Self.quake("a", 6.1, mmi: 6, "best")]))
    #expect(third.integer("restored") == 1)
    #expect(try list() == ["geonet:a", "geonet:b"])
    #expect(
      try watch("--enters", "--min-magnitude", "5")
        == ["insert geonet:a 5.9", "update geonet:a 6.1"])
  }

  @Test func eventsWhosePublicIDsEndAlikeAreDifferentEvents() throws {
    func event(_ id: String) -> String {
      """
      <event publicID="\(id)"><origin publicID="\(id)/origin"><time><value>2026-01-02T03:04:05Z</value></time>
      <longitude><value>1</value></longitude><latitude><value>2</value></latitude></origin></event>
      """
    }
    func document(_ ids: String...) -> String {
      """
      <?xml version="1.0"?>
      <q:quakeml xmlns:q="http://quakeml.org/xmlns/quakeml/1.2" xmlns="http://quakeml.org/xmlns/bed/1.2">
      <eventParameters publicID="smi:local/c">\(ids.map(event).joined())</eventParameters></q:quakeml>
      """
    }
    let report = try load(
      document("smi:local/cmt/A/event", "smi:local/cmt/B/event"), "--source", "gcmt")
    #expect(report.integer("inserted") == 2 && report.integer("duplicate") == 0)
    #expect(try list() == ["gcmt:A", "gcmt:B"])
    let file = try folder.write(
      "two.xml", document("smi:local/cmt/C/event", "smi:local/mt/C/event"))
    try database.run("quake-ingest", ["import", "--source", "gcmt", file]).expect(
      65, "/two.xml\" lead to one code", "\"smi:local/cmt/C/event\" and \"smi:local/mt/C/event\"")
    #expect(try list() == ["gcmt:A", "gcmt:B"])
  }

  @Test func typesAreFoundInEverySpelling() throws {
    let types = ["quarry_blast", "quarry blast", "Earthquake", "frost quake", "not existing"]
    let rows = types.enumerated().map { number, type in
      "\(number)|2026-01-02T03:04:0\(number)|1|2|3|a|b|c|\(number)|ml|1|a|p|\(type)\n"
    }
    let header =
      "#EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|"
      + "Magnitude|MagAuthor|EventLocationName|EventType\n"
    #expect(try load(header + rows.joined(), "--source", "x").integer("inserted") == 4)
    // A row that was stored before types had one spelling.
    try database.psql("update quake.quake set type = 'quarry_blast' where code = 'x:1'")
    for spelling in ["quarry blast", "quarry_blast", "Quarry"] {
      #expect(try list("--type", spelling) == ["x:0", "x:1"])
      #expect(try watch("--type", spelling, "--op", "insert").count == 2)
    }
    #expect(try list("--type", "earthquake") == ["x:2"])
    #expect(try list("--type", "frost_quake") == ["x:3"])
  }
}
