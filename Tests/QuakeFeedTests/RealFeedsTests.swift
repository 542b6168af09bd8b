import Foundation
import QuakeModel
import TestSupport
import Testing

@testable import QuakeFeed

/// Feeds as they were published. They are not part of the project: `QUAKE_REAL_FEEDS` names their
/// folder; the default is a folder beside the project.
enum RealFeeds {
  static let folder: String? = {
    let path =
      ProcessInfo.processInfo.environment["QUAKE_REAL_FEEDS"]
      ?? Tools.package + "/../shared/feeds"
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }()

  /// The files below a subfolder with one of these endings, as paths relative to `folder`.
  ///
  /// - Parameter step: 4 takes every fourth file. `make soak` takes all of them.
  static func files(_ subfolder: String, endings: String..., step: Int = 1) -> [String] {
    guard let folder else { return [] }
    let all = FileManager.default.enumerator(atPath: "\(folder)/\(subfolder)")
    let files = (all?.compactMap { $0 as? String } ?? []).sorted()
      .filter { file in endings.contains { file.hasSuffix($0) } }
    return stride(from: 0, to: files.count, by: Tools.isSoak ? 1 : step)
      .map { "\(subfolder)/\(files[$0])" }
  }

  static func bytes(_ file: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(try #require(folder))/\(file)")))
  }

  static func contents(_ file: String, keepsRecords: Bool = true) throws -> FeedContents {
    try FeedContents(try source(file), keepsRecords: keepsRecords)
  }

  static func source(_ file: String) throws -> FileSource {
    try FileSource(path: "\(try #require(folder))/\(file)")
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
  @Test(arguments: RealFeeds.files("usgs", endings: ".geojson", ".csv", step: 4))
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

  @Test(arguments: RealFeeds.files("replay", endings: ".csv", step: 10))
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
    #expect(hour.records.contains { $0.text(.place) == "4 km E of Pāhala, Hawaii" })
    let old = try RealFeeds.contents("usgs/usgs_all_hour_2013-07-20T1633Z.geojson")
    #expect(old.records.first?.text(.status) == "AUTOMATIC")
    #expect(old.records.first?.has(.tsunami) == false)
    #expect(old.records.first?.has(.title) == false)
  }

  @Test(
    arguments: RealFeeds.files("usgs", endings: "query_2020-06-10T0405Z.geojson", "2018-04.csv"))
  func anySizeOfPiecesGivesTheSameRecords(file: String) throws {
    let bytes = try RealFeeds.bytes(file)
    let whole = try FeedContents(BytesSource(bytes))
    for limit in [20, 5000] {
      var random = SeededGenerator(UInt64(limit))
      let pieces = try FeedContents(
        BytesSource(bytes, pieceSize: { Int.random(in: 1...limit, using: &random) }))
      let isSame = pieces.records == whole.records
      #expect(isSame, "pieces of up to \(limit) bytes")
    }
  }
}
