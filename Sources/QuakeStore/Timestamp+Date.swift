public import QuakeModel

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Timestamp {
  /// The instant of a date, to the microsecond.
  public init(_ date: Date) {
    self.init(microseconds: Int64((date.timeIntervalSince1970 * 1_000_000).rounded()))
  }

  /// The instant as a date. A date is exact to about a microsecond in our time.
  public var date: Date {
    Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}
