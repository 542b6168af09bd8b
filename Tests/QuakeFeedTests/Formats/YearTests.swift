import QuakeModel
import Testing

@testable import QuakeFeed

/// Times are of the years 1 to 9999, in each format alike: the formats that are written have no others, and the store
/// takes no others.
@Suite struct YearTests {
  /// A feed with an event in the last second of the year 9999, and one a second later.
  private static let feeds = [
    collection(
      feature(id: #""us1""#, time: "253402300799000"),
      feature(id: #""us2""#, time: "253402300800000")),
    """
    time,latitude,longitude,id,net
    9999-12-31T23:59:59Z,1,2,us1,us
    10000-01-01T00:00:00Z,1,2,us2,us

    """,
    """
    #EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|Magnitude|MagAuthor|EventLocationName
    us1|9999-12-31T23:59:59|1|2|3|us|us|us|us1|ml|4|us|somewhere
    us2|10000-01-01T00:00:00|1|2|3|us|us|us|us2|ml|4|us|somewhere

    """,
  ]

  @Test(arguments: feeds)
  func aTimeAfterTheYear9999IsRejectedInEachFormat(feed: String) throws {
    var options = FeedReader.Options()
    options.centre = .usgs
    let contents = try FeedContents(feed, options: options)
    #expect(
      contents.records.map { $0.timestamp(.time)?.description } == ["9999-12-31T23:59:59.000Z"])
    #expect(contents.rejects.count == 1 && contents.rejects.first?.isOfTime == true)
  }
}
