import Foundation
import Postgres
import TestSupport
import Testing

/// `quake-query export`: what it writes is read by other programs, and imported again without a change.
@Suite final class ExportTests: ToolSuite {
  private func load(_ files: [String]) throws {
    try database.succeed("quake-ingest", ["import"] + files)
  }

  @discardableResult
  private func export(_ arguments: [String]) throws -> ToolProcess.Outcome {
    let outcome = try database.succeed("quake-query", ["export"] + arguments)
    return outcome
  }

  /// Imports a file; its report as JSON.
  private func again(_ file: String, _ arguments: [String] = []) throws -> JSONLine {
    let outcome = try database.succeed("quake-ingest", ["import", "--json"] + arguments + [file])
    return try JSONLine(#require(outcome.lines.first))
  }

  /// What identifies the contents of the table, with all state.
  private func contents() throws -> String {
    try database.value(
      "select md5(string_agg(md5(q::text), '' order by q.code)) || ' ' || quake.latest_token() from quake.quake q"
    )
  }

  /// Events of several catalogues, and some that no feed writes.
  private func loadEvents() throws {
    if Feeds.hasReal {
      let files = try ["usgs", "other"].flatMap { folder in
        try Feeds.real(folder, ["geojson", "csv", "json", "xml"]).filter {
          ["significant_month_2023-10", "fdsn_query_2020", "emsc_fdsn_2024-04-25T0701", "quakeml"]
            .contains(where: $0.contains)
        }
      }
      try #require(files.count >= 5)
      try load(files)
    }
    try load([folder.write("made.geojson", Feeds.collection(count: 50))])
    try database.psql(
      """
      insert into quake.quake (code, net, net_code, source, type, status, magnitude, magnitude_type,
          place, time, longitude, latitude, depth, rms)
      values ('local1', null, null, 'local', 'frost_quake', 'REVIEWED', null, 'ml',
              E' a | "b", \\n<c> & \\x01 P\u{101}hala ', '2024-02-29 23:59:59.123456+00', -180, 90, 1e-5, 0.1),
             ('odd code/:~|', E'\\n', 'x', 'mine', 'Frost Quake', 'best', -1.5, null,
              null, '1906-04-18 13:12:21+00', 0, 0, -3.25, null)
      """)
  }

  private static let files = [
    "quakes.geojson.gz", "quakes.csv", "quakes.ndjson", "quakes.txt", "quakes.qml.zst",
  ]

  /// Withdrawn and superseded events come not back either.
  @Test func whatIsExportedIsImportedAgainWithoutAChange() throws {
    try loadEvents()
    try database.psql(
      """
      update quake.quake set superseded_by = 'us1' where code = 'us2';
      update quake.quake set withdrawn_at = now() where code = 'us3';
      """)
    let before = try contents()
    let count = try database.value("select count(*) from quake.current_quake")
    for name in Self.files {
      let file = folder.path + "/" + name
      try export(["--output", file])
      let report = try again(file)
      #expect(report.integer("seen").map(String.init) == count, "\(name)")
      #expect(report.integer("unchanged").map(String.init) == count, "\(name)")
      #expect(report.integer("inserted") == 0, "\(name)")
      #expect(report.integer("updated") == 0, "\(name)")
      #expect(report.integer("rejected") == 0, "\(name)")
      #expect(try contents() == before, "\(name)")
      try export(["--all", "--output", file])
      #expect(try again(file).integer("rejected") == 0, "\(name)")
      #expect(try contents() == before, "\(name)")
    }
  }

  @Test func anExportIntoAnEmptyStoreHasTheSameEvents() throws {
    try loadEvents()
    let columns = "code, source, time, longitude, latitude, depth, magnitude, place, type"
    let list = "select md5(string_agg(md5((\(columns))::text), '' order by code)) from quake.quake"
    let before = try database.value(list)
    for name in ["quakes.ndjson", "quakes.xml"] {
      try export(["--output", folder.path + "/" + name])
      let other = try TestDatabase()
      try other.succeed("quake-ingest", ["import", folder.path + "/" + name])
      #expect(try other.value(list) == before, "\(name)")
    }
  }

  @Test func optionsSelectTheEventsAsInTheList() throws {
    try load([folder.write("made.geojson", Feeds.collection(count: 9))])
    let selection = ["--min-magnitude", "1", "--bbox", "-118,35,-117,36", "--limit", "5"]
    let list = try database.run("quake-query", ["list", "--json"] + selection)
    let lines = try export(["--format", "ndjson"] + selection)
    #expect(lines.output == list.output)
    #expect(lines.lines.count == 5)
    // As of a moment at which there were none.
    let none = try export(["--format", "geojson", "--as-of", "0"])
    #expect(none.output.contains("\"count\":0"))
    #expect(none.output.contains("\"features\":[]"))
  }

  @Test func whatCannotBeWrittenIsAnErrorOfUsage() throws {
    for (arguments, says) in [
      (["--output", "quakes.parquet"], "cannot write Parquet"),
      (["--output", "quakes.doc"], "does not tell the format"), ([], "give --format"),
    ] { try database.run("quake-query", ["export"] + arguments).expect(64, says, with: arguments) }
  }

  // MARK: Other programs

  /// An event as a reader and the database have it.
  private struct Event: Equatable {
    var id: String
    var magnitude: Double?
    var microseconds: Int
    var depth: Double?
    var longitude: Double?
    var latitude: Double?
  }

  @Test(.enabled(if: Clients.python != nil, "\(Clients.isMissing)"))
  func otherProgramsReadTheSameEvents() throws {
    try loadEvents()
    // Their identifiers are checked elsewhere: a reader may show them otherwise.
    try database.psql("delete from quake.quake where source in ('local', 'mine');")
    for name in ["geojson", "csv", "txt", "xml", "kml", "atom"] {
      try export(["--output", folder.path + "/quakes.\(name)"])
    }
    let script = Tools.package + "/Tests/ToolTests/Readers/read_exports.py"
    // Some of these programs make folders in the home folder.
    let outcome = try Tools.shell(
      "'\(Clients.python ?? "")' '\(script)' '\(folder.path)'", environment: ["HOME": folder.path]
    ).requireSuccess()
    let result = try #require(
      JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    #expect(result["valid"] as? Bool == true, "QuakeML is not valid")
    let expected = try events()
    try #require(expected.count >= 50)
    for reader in [
      "obspy quakeml", "obspy text", "gdal geojson", "gdal csv", "gdal kml", "pandas csv",
      "feedparser atom",
    ] {
      let rows = try #require(result[reader] as? [[Any]], "\(reader)")
      try #require(rows.count == expected.count, "\(reader)")
      for (row, event) in zip(rows, expected) {
        var read = Event(
          id: row[0] as? String ?? "", magnitude: Self.number(row[1]),
          microseconds: (row[2] as? NSNumber)?.intValue ?? 0, depth: Self.number(row[3]),
          longitude: Self.number(row[4]), latitude: Self.number(row[5]))
        if reader == "obspy quakeml" {
          read.id = read.id.replacingOccurrences(of: "/", with: ":")
        }
        // The script makes kilometres of metres, which rounds once more.
        if let left = read.depth, let right = event.depth, abs(left - right) < 1e-9 {
          read.depth = right
        }
        #expect(read == event, "\(reader)")
        guard read == event else { break }
      }
    }
  }

  private static func number(_ value: Any) -> Double? { (value as? String).flatMap(Double.init) }

  /// The events in the order of an export.
  private func events() throws -> [Event] {
    let rows = try database.connect().execute(
      """
      select code, magnitude, (extract(epoch from time) * 1000000)::bigint, depth, longitude, latitude
        from quake.current_quake order by time desc, code
      """)
    return (0..<rows.rowCount).map { row in
      Event(
        id: rows.text(row, 0) ?? "", magnitude: rows.text(row, 1).flatMap(Double.init),
        microseconds: Int(rows.integer(row, 2) ?? 0), depth: rows.text(row, 3).flatMap(Double.init),
        longitude: rows.text(row, 4).flatMap(Double.init),
        latitude: rows.text(row, 5).flatMap(Double.init))
    }
  }
}
