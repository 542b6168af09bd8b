public import Basics
internal import EmbeddedPostgres
public import Postgres
internal import QuakeFeed
internal import QuakeImport
public import QuakeModel

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Foundation's names for the parts of our errors, so that `localizedDescription` and the alerts of frameworks
/// show them.
extension LocalizedError where Self: ExplainedError {
  /// The message.
  public var errorDescription: String? { message }
  /// The detail.
  public var failureReason: String? { detail }
  /// The hint.
  public var recoverySuggestion: String? { hint }
}

extension DescriptorFailure: LocalizedError {}
extension EmbeddedServerError: LocalizedError {}
extension FeedError: LocalizedError {}
extension ImportRefusal: LocalizedError {}
extension PostgresError: LocalizedError {}
extension StoreError: LocalizedError {}

extension Timestamp {
  /// The instant of a date, to the microsecond. For a date that is too far away it is the first or the last instant, and
  /// for one that is not a number the first.
  public init(_ date: Date) {
    let microseconds = (date.timeIntervalSince1970 * 1_000_000).rounded()
    self.init(microseconds: Int64(exactly: microseconds) ?? (microseconds > 0 ? .max : .min))
  }

  /// The instant as a date. A date is exact to about a microsecond in our time.
  public var date: Date {
    Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}
