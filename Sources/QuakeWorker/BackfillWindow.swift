public import QuakeModel

/// A span of origin times that a backfill requests from an event service in one query.
///
/// Windows are half-open, [start, end), and begin and end with whole seconds, which every service accepts.
/// Both bounds of a service's query are inclusive: an event on the border of two windows may be in both
/// answers, but never in none.
public struct BackfillWindow: Sendable, Equatable {
  /// The earliest origin time of its events.
  public let start: Timestamp
  /// The origin time before which its events end; after `start`.
  public let end: Timestamp
  /// The number of events in it, according to the service; nil if unknown.
  public var count: Int64?

  /// The window from `start` to `end`, widened to whole seconds; nil if it would be empty, or is outside the
  /// years that a feed may contain.
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

  /// The two halves, the earlier first; nil for a window of one second, which cannot be split.
  public var halves: (BackfillWindow, BackfillWindow)? {
    guard seconds > 1 else { return nil }
    let middle = Timestamp(microseconds: start.microseconds + seconds / 2 * 1_000_000)
    return BackfillWindow(from: start, to: middle).flatMap { first in
      BackfillWindow(from: middle, to: end).map { (first, $0) }
    }
  }

  /// The next step with a window.
  public enum Step: Sendable, Equatable {
    /// Ask the service for the number of its events.
    case count
    /// Split it into halves.
    case cut
    /// Fetch its events.
    case fetch
  }

  /// The next step, for a service that returns at most `limit` events in one answer.
  ///
  /// - Parameter counts: Whether the service can count events.
  public func step(limit: Int64, counts: Bool) -> Step {
    guard let count else { return counts ? .count : .fetch }
    return count > limit ? .cut : .fetch
  }

  /// Whether an answer of `seen` events is complete, or may have been cut off.
  ///
  /// A service that counts refuses a window that is too large, or sends fewer events than it counts. Others may cut
  /// off their answer, and not exactly at the limit: EMSC's service returns 995 to 1,000 events if the limit is
  /// 1,000. So, without a count, an answer within a tenth of the limit is considered incomplete. They may also have
  /// a limit of their own, which is a round number: such an answer is incomplete until the service has sent a longer
  /// one. A window of a second cannot be split, so it counts as whole unless the answer reaches the limit.
  ///
  /// - Parameters:
  ///   - limit: The most events in one answer.
  ///   - longest: The most events of an answer so far.
  public func isWhole(seen: Int64, limit: Int64, longest: Int64 = 0) -> Bool {
    guard let count else {
      guard seen < limit - limit / 10 else { return false }
      return seconds == 1 || seen < longest || !Self.isRound(seen)
    }
    guard seen < count else { return seen < limit || count == seen }
    return seconds == 1 || !Self.isRound(seen) && !isShort(seen)
  }

  /// Whether an answer has so much fewer events than the service counts that others are missing: between the two
  /// requests, only few are added or removed.
  private func isShort(_ seen: Int64) -> Bool {
    count.map { seen < $0 - max(10, $0 / 100) } ?? false
  }

  /// Whether a number of events may be a limit of the service: 10, 20, 25, or a multiple of 50.
  public static func isRound(_ seen: Int64) -> Bool {
    seen > 0 && (seen % 50 == 0 || [10, 20, 25].contains(seen))
  }
}
