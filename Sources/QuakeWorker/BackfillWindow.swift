public import QuakeModel

/// A stretch of origin time that a backfill asks an event service for in one query.
///
/// Windows are half-open, [start, end), and begin and end with whole seconds, which every service
/// reads. A service's own bounds are both inclusive: what happened on the border of two windows may
/// come with either or with both, and is never left out.
public struct BackfillWindow: Sendable, Equatable {
  /// Origin time from which on it holds events.
  public let start: Timestamp
  /// Origin time before which it does; after `start`.
  public let end: Timestamp
  /// How many events the service says it holds; nil: not known.
  public var count: Int64?

  /// The window from `start` to `end`, widened to whole seconds; nil if it would be empty, or
  /// is not within the years that a feed may name.
  public init?(from start: Timestamp, to end: Timestamp, count: Int64? = nil) {
    guard start < end, start >= .earliest, end <= .latest else { return nil }
    self.start = Timestamp(microseconds: Self.seconds(start, .down) * 1_000_000)
    self.end = Timestamp(microseconds: Self.seconds(end, .up) * 1_000_000)
    self.count = count
  }

  private static func seconds(_ time: Timestamp, _ rule: FloatingPointRoundingRule) -> Int64 {
    let (quotient, remainder) = time.microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    switch rule {
    case .up: return remainder > 0 ? quotient + 1 : quotient
    default: return remainder < 0 ? quotient - 1 : quotient
    }
  }

  /// Its length in seconds, 1 or more.
  public var seconds: Int64 { (end.microseconds - start.microseconds) / 1_000_000 }

  /// The two halves, the earlier first; nil for a window of one second, which cannot be cut.
  public var halves: (BackfillWindow, BackfillWindow)? {
    guard seconds > 1 else { return nil }
    let middle = Timestamp(microseconds: start.microseconds + seconds / 2 * 1_000_000)
    return BackfillWindow(from: start, to: middle).flatMap { first in
      BackfillWindow(from: middle, to: end).map { (first, $0) }
    }
  }

  /// What is to be done with a window before it is asked for.
  public enum Step: Sendable, Equatable {
    /// Ask how many events it holds.
    case count
    /// Cut it in two.
    case cut
    /// Ask for its events.
    case fetch
  }

  /// The next step, with a service that gives at most `limit` events in one answer.
  ///
  /// - Parameter counts: Whether the service can be asked how many events there are.
  public func step(limit: Int64, counts: Bool) -> Step {
    guard let count else { return counts ? .count : .fetch }
    return count > limit ? .cut : .fetch
  }

  /// Whether an answer of so many events may be all that the window holds, or was cut off at the
  /// service's limit.
  ///
  /// A service that counts refuses what is too large. One that does not may cut its answer off, and
  /// not exactly at the limit: EMSC's gives 995 to 1,000 events where 1,000 are the limit. So, without
  /// a count, an answer within a tenth of the limit is not believed to be whole.
  public func isWhole(seen: Int64, limit: Int64) -> Bool {
    count == nil ? seen < limit - limit / 10 : seen < limit || count == seen
  }
}
