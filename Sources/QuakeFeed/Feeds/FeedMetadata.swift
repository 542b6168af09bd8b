import CSimdjson
public import QuakeModel
internal import Simdjson

/// The metadata of a feed. Members that are missing or invalid are nil.
///
/// USGS writes it before the events, but JSON does not define an order, so it is complete only when all
/// events have been read.
public struct FeedMetadata: Sendable, Equatable {
  /// When the feed was generated (`generated`, milliseconds in the feed). It orders two snapshots.
  public var generated: Timestamp?
  /// The HTTP status that the feed states.
  public var status: Int?
  /// What the feed says about an error, if it reports one.
  public var error: String?
  /// The number of events that the feed states.
  public var count: Int?

  /// Empty metadata.
  public init() {}

  init(_ object: csj_element) {
    for member in object.members {
      if member.isNamed("generated") {
        generated = member.value.wholeNumber.flatMap(Timestamp.init(feedMilliseconds:))
      } else if member.isNamed("status") {
        status =
          member.value.wholeNumber
          ?? member.value.utf8.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
      } else if member.isNamed("error") {
        error = Self.error(member.value)
      } else if member.isNamed("count") {
        count = member.value.wholeNumber
      }
    }
  }
}

extension FeedMetadata {
  /// The text of a member `error`; nil if its value says that there is no error.
  static func error(_ value: csj_element) -> String? {
    switch value.kind {
    case CSJ_NULL: return nil
    case CSJ_STRING:
      let text = value.utf8.map { String(decoding: $0, as: UTF8.self) } ?? ""
      return text.isEmpty ? nil : text
    case CSJ_BOOL: return csj_bool(value) ? "true" : nil
    default: return value.number.map { "\($0)" } ?? value.kindName
    }
  }
}

extension Timestamp {
  /// The instant `milliseconds` after 1970-01-01T00:00:00Z; nil outside the years 1 to 9999.
  init?(feedMilliseconds milliseconds: Int) {
    let (microseconds, overflow) = Int64(milliseconds).multipliedReportingOverflow(by: 1000)
    self.init(microseconds: microseconds)
    guard !overflow, self >= Self.earliest, self <= Self.latest else { return nil }
  }
}
