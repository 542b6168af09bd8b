import CSimdjson
public import QuakeModel

/// What a feed says of itself; nil where it does not, or says it in a way that makes no sense.
///
/// USGS writes it before the events, but nothing obliges it to: it is complete only when all events
/// have been read.
public struct FeedMetadata: Sendable, Equatable {
  /// When the feed was generated (`generated`, milliseconds in the feed): what orders two copies.
  public var generated: Timestamp?
  /// The feed's title.
  public var title: String?
  /// The HTTP status the feed believes to be served with.
  public var status: Int?
  /// How many events the feed says it holds.
  public var count: Int?

  /// Nothing is known.
  public init() {}

  /// What a `metadata` object says.
  init(_ object: csj_element) {
    for member in object.members {
      if member.isNamed("generated") {
        generated = member.value.wholeNumber.flatMap(Timestamp.init(feedMilliseconds:))
      } else if member.isNamed("title") {
        title = member.value.utf8.map { String(decoding: $0, as: UTF8.self) }
      } else if member.isNamed("status") {
        status = member.value.wholeNumber
      } else if member.isNamed("count") {
        count = member.value.wholeNumber
      }
    }
  }
}

extension Timestamp {
  /// The instant so many milliseconds after 1970-01-01T00:00:00Z; nil outside the years 1 to 9999.
  init?(feedMilliseconds milliseconds: Int) {
    let (microseconds, overflow) = Int64(milliseconds).multipliedReportingOverflow(by: 1000)
    self.init(microseconds: microseconds)
    guard !overflow, self >= Self.earliest, self <= Self.latest else { return nil }
  }
}
