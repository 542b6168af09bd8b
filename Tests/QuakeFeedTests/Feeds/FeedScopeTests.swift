import QuakeFeed
import QuakeModel
import Testing

@Suite struct FeedScopeTests {
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
