import Foundation
import TestSupport
import Testing

/// `quake-ingest backfill PATH`.
@Suite final class BackfillFileTests: ToolSuite {
  private func run(_ arguments: [String]) throws -> ToolProcess.Outcome {
    try database.run("quake-ingest", ["backfill"] + arguments)
  }

  private static let text = """
    #EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|\
    Magnitude|MagAuthor|EventLocationName
    1|2020-01-01T00:00:00|1|2|3|A|||1|ml|4|A|Somewhere

    """

  @Test func everyFileIsReadOnce() throws {
    try folder.write("a.geojson", Feeds.collection(count: 3))
    try folder.write("b.csv", Feeds.csvHeader + "\n" + Feeds.row("us100") + "\n")
    try folder.write("notes.md", "no feed")
    try folder.write(".hidden.csv", "no feed")
    #expect(
      try Tools.shell("mkdir sub; gzip -c a.geojson > sub/c.json.gz", folder: folder.path).status
        == 0)
    try folder.write("d.geojson", Feeds.collection(count: 2, from: 200))
    let first = try run([folder.path, "--json"]).expect(0)
    let lines = try first.lines.map { try JSONLine($0) }
    #expect(
      lines.dropLast().map { $0.string("file")?.dropFirst(folder.path.count) } == [
        "/a.geojson", "/b.csv", "/d.geojson", "/sub/c.json.gz",
      ])
    #expect(lines.last?.integer("files") == 4 && lines.last?.bool("complete") == true)
    #expect(lines.last?.integer("inserted") == 6 && lines.last?.integer("unchanged") == 3)
    #expect(try database.count("quake.quake") == 6)

    try run([folder.path]).expect(0, "4 of 4 files are stored already")
    #expect(try database.count("quake.import") == 4)

    try folder.write("b.csv", Feeds.csvHeader + "\n" + Feeds.row("us100", magnitude: "3") + "\n")
    try folder.write("e.geojson", Feeds.collection(count: 1, from: 300))
    try run([folder.path]).expect(0, "3 of 5 files are stored already")
    #expect(try database.count("quake.import") == 6)
    #expect(try database.value("select magnitude from quake.quake where code = 'us100'") == "3")

    #expect(try run([folder.path, "--restart"]).status == 0)
    #expect(try database.count("quake.import") == 11)
  }

  @Test func aBadFileDoesNotStopTheOthers() throws {
    try folder.write("a.csv", "no feed at all\n")
    let good = try folder.write("b.geojson", Feeds.collection(count: 2))
    try run([folder.path]).expect(65, "\(folder.path)/a.csv: ", printing: "is not complete")
    #expect(try database.count("quake.quake") == 2)
    #expect(try database.column("select path from quake.backfill_file") == [good])
    // Once it is corrected, only this file is read.
    try folder.write("a.csv", Feeds.csvHeader + "\n" + Feeds.row("us7") + "\n")
    let again = try run([folder.path]).expect(
      0, "1 of 2 files is stored already",
      printing: "backfill 1 of \(folder.path) is complete: 3 seen")
    #expect(again.output.contains("; 1 file in "), "\(again.output)")
  }

  @Test func textNeedsItsCentre() throws {
    let file = try folder.write("a.txt", Self.text)
    try run([file]).expect(64, "--source")
    try run([file, "--source", "gfz"]).expect(0)
    #expect(try database.column("select code from quake.quake") == ["gfz:1"])
    try database.succeed("quake-ingest", ["import", file, "--source", "isc"])
    #expect(try database.count("quake.quake") == 2)
  }
}
