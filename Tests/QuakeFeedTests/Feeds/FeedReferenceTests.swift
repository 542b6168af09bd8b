import Basics
import QuakeFeed
import QuakeModel
import TestSupport
import Testing

@testable import QuakeFeed

@Suite struct FeedReferenceTests {
  private func failure(_ text: String) -> FeedError? {
    thrown { () throws(FeedError) in _ = try FeedReference(text) }
  }

  @Test func thereAreTwentyFeedNames() throws {
    #expect(FeedReference.knownNames.count == 20)
    let reference = try FeedReference("4.5_day")
    #expect(
      reference.location
        == .url("https://earthquake.usgs.gov/earthquakes/feed/v1.0/summary/4.5_day.geojson"))
    #expect(reference.name == "4.5_day")
  }

  @Test func aURLHasANameAndHidesItsSecrets() throws {
    let plain = try FeedReference("https://example.org/a/all_day.geojson?x=1")
    #expect(plain.name == "all_day")
    #expect(plain.description == "https://example.org/a/all_day.geojson?x=***")
    let secret = try FeedReference("HTTPS://me:p@ss@example.org:8080/4.5_week.csv.gz#x@y")
    #expect(secret.location == .url("HTTPS://me:p@ss@example.org:8080/4.5_week.csv.gz#x@y"))
    #expect(secret.description == "HTTPS://example.org:8080/4.5_week.csv.gz#***")
    #expect(secret.name == "4.5_week")
    #expect(try FeedReference("http://me:pw@host/").name == "host")
    #expect(try FeedReference("http://host/query?a=b@c").description == "http://host/query?a=***")
    #expect(failure("ftp://a:secret@b/c")?.code == .invalidReference)
    #expect(failure("ftp://a:secret@b/c")?.description.contains("secret") == false)
    #expect(failure("file:///etc/passwd")?.hint == "Give the file's path instead.")
  }

  @Test func standardInputAndFilesAreReferences() throws {
    #expect(try FeedReference("-").location == .standardInput)
    #expect(try FeedReference("-").description == "standard input")
    let folder = try TemporaryFolder()
    let path = try folder.write("quake-feed", "")
    let file = try FeedReference(path)
    #expect(file.location == .file(path))
    #expect("\(folder.path)/\(file.name)" == path)
  }

  @Test(arguments: ["all_dya", "5.0_day", "4.5_dya", "quakes", "all"])
  func aMisspelledFeedNameListsTheKnownOnes(text: String) throws {
    let error = try #require(failure(text))
    #expect(error.code == .unknownFeed)
    #expect(error.message == "unknown feed \"\(text)\"")
    #expect(error.detail?.contains("2.5_week, 2.5_month") == true)
  }

  @Test(arguments: ["./all_dya", "nowhere.geojson", "/nowhere/x", "x.csv.gz"])
  func aMissingFileIsUnavailable(text: String) {
    #expect(failure(text)?.code == .fileNotFound)
    #expect(failure(text)?.category == .unavailable)
  }

  @Test(arguments: [
    ("all_day", "all_day"), ("4.5_week", "4.5_week"),
    ("usgs_all_day_2026-08-15T0040Z.csv", "all_day"),
    ("backup-2.5_month.geojson.gz", "2.5_month"), ("significant_hour", "significant_hour"),
  ])
  func feedNamesAreFound(_ text: String, _ name: String) {
    #expect(FeedReference.summaryName(in: text) == name)
  }

  @Test(arguments: ["", "day", "all_days", "small_day", "12.5_day", "all_dayx", "feed", "all-day"])
  func otherTextsNameNoFeed(_ text: String) {
    #expect(FeedReference.summaryName(in: text) == nil)
    #expect(FeedReference.scope(of: text) == nil)
  }

  @Test func windowAndThresholdOfAFeed() throws {
    let day = try #require(FeedReference.scope(of: "all_day"))
    #expect(day.window == 86_400 && day.minimumMagnitude == nil && day.isWhole)
    let week = try #require(FeedReference("https://example.org/4.5_week.geojson").scope)
    #expect(week.window == 7 * 86_400 && !week.isWhole)
    // USGS rounds magnitudes: 4.5 in a name means 4.45 and above.
    #expect(abs(try #require(week.minimumMagnitude) - 4.45) < 1e-9)
    let significant = try #require(FeedReference.scope(of: "significant_month"))
    #expect(significant.isSelective && !significant.isWhole)
    #expect(try FeedReference("https://example.org/query?x=all_day").scope == nil)
  }
}
