import Foundation
import QuakeModel
import TestSupport
import Testing

@testable import QuakeFeed

/// Feeds as they were published. They are not part of the project: `QUAKE_REAL_FEEDS` names their
/// folder; the default is a folder beside the project.
enum RealFeeds {
  static let folder: String? = {
    let project = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let path =
      ProcessInfo.processInfo.environment["QUAKE_REAL_FEEDS"]
      ?? project.appendingPathComponent("../shared/feeds").path
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }()

  /// The files below a subfolder with one of these endings, as paths relative to `folder`.
  static func files(_ subfolder: String, endings: String...) -> [String] {
    guard let folder else { return [] }
    let all = FileManager.default.enumerator(atPath: "\(folder)/\(subfolder)")
    return (all?.compactMap { $0 as? String } ?? []).sorted()
      .filter { file in endings.contains { file.hasSuffix($0) } }
      .map { "\(subfolder)/\($0)" }
  }

  static func bytes(_ file: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(try #require(folder))/\(file)")))
  }

  static func contents(_ file: String, keepsRecords: Bool = true) throws -> FeedContents {
    try FeedContents(
      try FileSource(path: "\(try #require(folder))/\(file)"), keepsRecords: keepsRecords)
  }

  /// Counts events without any of the code under test.
  static func count(_ file: String) throws -> Int {
    if file.hasSuffix(".csv") {
      return try bytes(file).split(separator: 0x0A).count - 1
    }
    return try JSONDecoder().decode(Document.self, from: Data(try bytes(file))).features.count
  }

  private struct Document: Decodable {
    var features: [Feature]

    struct Feature: Decodable {}
  }
}

@Suite(.enabled(if: RealFeeds.folder != nil, "the real feeds are not here (QUAKE_REAL_FEEDS)"))
struct RealFeedsTests {
  @Test(arguments: RealFeeds.files("usgs", endings: ".geojson", ".csv"))
  func everyEventOfUSGSIsRead(file: String) throws {
    let contents = try RealFeeds.contents(file)
    #expect(try contents.records.count == RealFeeds.count(file))
    #expect(contents.rejects.isEmpty)
    #expect(contents.format == (file.hasSuffix(".csv") ? .usgsCSV : .usgsGeoJSON))
    #expect(try contents.bytesRead == RealFeeds.bytes(file).count)
    if let count = contents.metadata.count { #expect(count == contents.records.count) }
    let isCSV = file.hasSuffix(".csv")
    let wrong = contents.records.filter { record in
      guard let net = record.text(.net) else { return true }
      return !isCSV && record.text(.code) != net + (record.text(.netCode) ?? "")
    }
    #expect(wrong.isEmpty, "\(wrong.map { $0.text(.code) ?? "" }.prefix(5))")
  }

  @Test(arguments: RealFeeds.files("replay", endings: ".csv"))
  func everyReplayedSnapshotIsRead(file: String) throws {
    let contents = try RealFeeds.contents(file, keepsRecords: false)
    #expect(try contents.recordsSeen == RealFeeds.count(file))
    #expect(contents.rejects.isEmpty || file.contains("garbage_times"))
    for reject in contents.rejects { #expect(reject.reason.hasPrefix("The time \"1970-01-01T")) }
  }

  @Test(arguments: RealFeeds.files("other", endings: "Z.json"))
  func everyEventOfEMSCIsRead(file: String) throws {
    let contents = try RealFeeds.contents(file)
    #expect(contents.format == .emscJSON)
    #expect(try contents.records.count == RealFeeds.count(file))
    #expect(contents.rejects.isEmpty)
    #expect(
      contents.records.allSatisfy {
        $0.text(.code)?.hasPrefix("emsc:2") == true && $0.has(.depth)
      })
  }

  /// EMSC's text format has the same values as its GeoJSON, without the time of the last update.
  @Test(arguments: RealFeeds.files("other", endings: ".json").filter { $0.contains("emsc") })
  func everyEventOfEMSCIsTheSameInText(file: String) throws {
    let document = try JSONSerialization.jsonObject(with: Data(RealFeeds.bytes(file)))
    let features = try #require((document as? [String: Any])?["features"] as? [[String: Any]])
    let rows = features.map { feature in
      let properties = feature["properties"] as? [String: Any] ?? [:]
      let names = [
        "unid", "time", "lat", "lon", "depth", "auth", "source_catalog", "auth", "source_id",
        "magtype", "mag", "auth", "flynn_region", "evtype",
      ]
      return names.map { "\(properties[$0] ?? "")" }.joined(separator: "|")
    }
    let text = ([FDSNTextTests.header + "|EventType"] + rows).joined(separator: "\n")
    let contents = try FeedContents(text, options: FDSNTextTests.options("emsc"))
    let expected = try RealFeeds.contents(file).records.map { record in
      var record = record
      record.setNull(.updated)
      return record
    }
    #expect(contents.records == expected)
    #expect(contents.records.filter { ($0.double(.depth) ?? 0) > 0 }.count > 900)
  }

  @Test func theGeoNetFixture() throws {
    let contents = try RealFeeds.contents("other/geonet_quakes-1_fixture.json")
    #expect(contents.records.count == 2)
    #expect(contents.rejects.map(\.reason) == ["The event has no time."])
    #expect(contents.rejects.first?.number == 3)
  }

  @Test func filesWithUnusualContents() throws {
    let before = try RealFeeds.contents("usgs/usgs_feature_id_before.json")
    let after = try RealFeeds.contents("usgs/usgs_feature_id_after.json")
    #expect(before.records.first?.text(.netCode) == after.records.first?.text(.netCode))
    #expect(after.records.first?.text(.code) == "NEW_ID")
    #expect(after.records.first?.text(.place) == "228 km SSW of Severo-Kuril’sk, Russia")
    let fixture = try RealFeeds.contents("usgs/usgs_fixture_aio_earthquakes-1.json")
    #expect(fixture.records.compactMap { $0.text(.code) } == ["1234", "2345", "3456"])
    #expect(fixture.records.allSatisfy { !$0.has(.net) && !$0.has(.netCode) })
    let hour = try RealFeeds.contents("usgs/usgs_all_hour_2022-03-15T1024Z.geojson")
    #expect(hour.metadata.generated?.microseconds == 1_647_339_870_000_000)
    #expect(hour.metadata.title == "USGS All Earthquakes, Past Hour")
    #expect(hour.records.contains { $0.text(.place) == "4 km E of Pāhala, Hawaii" })
    let old = try RealFeeds.contents("usgs/usgs_all_hour_2013-07-20T1633Z.geojson")
    #expect(old.records.first?.text(.status) == "AUTOMATIC")
    #expect(old.records.first?.has(.tsunami) == false)
    #expect(old.records.first?.has(.title) == false)
  }

  @Test func unusualValuesOccurAndAreKept() throws {
    var withoutMagnitude = 0
    var negativeMagnitudes = 0
    var negativeDepths = 0
    var codes = Set<String>()
    var networksOfCode: [String: Set<String>] = [:]
    var collisions = Set<String>()
    // A week of swarms, and one in which two networks gave the same net code.
    for week in ["2020-04-13T0356Z", "2021-03-24T1806Z"] {
      networksOfCode.removeAll(keepingCapacity: true)
      for record in try RealFeeds.contents("usgs/usgs_all_week_\(week).geojson").records {
        if !record.has(.magnitude) { withoutMagnitude += 1 }
        if let magnitude = record.double(.magnitude), magnitude < 0 { negativeMagnitudes += 1 }
        if let depth = record.double(.depth), depth < 0 { negativeDepths += 1 }
        guard let net = record.text(.net), let own = record.text(.netCode) else { continue }
        codes.insert(try #require(record.text(.code)))
        networksOfCode[own, default: []].insert(net)
        if networksOfCode[own]?.count == 2 { collisions.insert(own) }
      }
    }
    #expect(withoutMagnitude > 0)
    #expect(negativeMagnitudes > 200)
    #expect(negativeDepths > 100)
    // Networks tx and ok have given the same net code to two earthquakes of one file: both are
    // read.
    #expect(!collisions.isEmpty)
    for code in collisions where codes.contains("tx\(code)") {
      #expect(codes.contains("ok\(code)"))
    }
  }

  @Test(
    arguments: RealFeeds.files("usgs", endings: "query_2020-06-10T0405Z.geojson", "2018-04.csv"))
  func anySizeOfPiecesGivesTheSameRecords(file: String) throws {
    let bytes = try RealFeeds.bytes(file)
    let whole = try FeedContents(BytesSource(bytes))
    for seed in 0..<4 as Range<UInt64> {
      var random = SeededGenerator(seed)
      let limit = [1, 20, 500, 5000][Int(seed)]
      let pieces = try FeedContents(
        BytesSource(bytes, pieceSize: { Int.random(in: 1...limit, using: &random) }))
      #expect(pieces.records.count == whole.records.count)
      for (one, other) in zip(pieces.records, whole.records) {
        for column in EventColumn.feed {
          #expect(one.text(.code) == other.text(.code))
          #expect(one.has(column) == other.has(column))
        }
        #expect(one.double(.magnitude) == other.double(.magnitude))
        #expect(one.timestamp(.updated) == other.timestamp(.updated))
      }
    }
  }
}
