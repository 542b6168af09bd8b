/// A moment on the monotonic clock by which something must have happened.
public struct Deadline: Comparable, Sendable {
  /// Milliseconds on `CLOCK_MONOTONIC`.
  private let milliseconds: Int64

  /// The moment `duration` from now.
  public init(after duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let (offset, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    let (moment, late) = offset.addingReportingOverflow(
      MonotonicClock.milliseconds + attoseconds / 1_000_000_000_000_000)
    milliseconds = !overflow && !late ? moment : seconds < 0 ? Int64.min : Int64.max
  }

  /// The earlier deadline is the smaller.
  public static func < (left: Deadline, right: Deadline) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// Whether the moment has come.
  public var hasPassed: Bool { MonotonicClock.milliseconds >= milliseconds }

  /// What `poll(2)` wants: milliseconds left, at least 0.
  public var pollTimeout: Int32 { pollTimeout(at: MonotonicClock.milliseconds) }

  /// The clock is read once for all of it. With a second look, after the process was kept from the
  /// processor for a while, the time left can be less than 0, which means forever to poll(2).
  package func pollTimeout(at now: Int64) -> Int32 {
    let (left, overflow) = milliseconds.subtractingReportingOverflow(now)
    // The distance to the farthest past does not fit.
    return overflow ? 0 : Int32(clamping: max(0, left))
  }
}
