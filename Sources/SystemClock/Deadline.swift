/// A moment on the monotonic clock by which something must have happened.
public struct Deadline: Comparable, Sendable {
  /// Milliseconds on `CLOCK_MONOTONIC`.
  private let milliseconds: Int64

  /// The moment `duration` from now.
  public init(after duration: Duration) {
    let (moment, overflow) = MonotonicClock.milliseconds.addingReportingOverflow(
      duration.wholeMilliseconds)
    milliseconds = overflow ? .max : moment
  }

  /// The earlier deadline is the smaller.
  public static func < (left: Deadline, right: Deadline) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// Whether the moment has come.
  public var hasPassed: Bool { MonotonicClock.milliseconds >= milliseconds }

  /// The timeout for `poll(2)`: the milliseconds left, at least 0.
  public var pollTimeout: Int32 { pollTimeout(at: MonotonicClock.milliseconds) }

  /// The timeout at a given moment. The clock must be read only once: if the process was not scheduled
  /// between two readings, the time left could be negative, which poll(2) takes for "forever".
  package func pollTimeout(at now: Int64) -> Int32 {
    let (left, overflow) = milliseconds.subtractingReportingOverflow(now)
    // The subtraction overflows for moments in the far past.
    return overflow ? 0 : Int32(clamping: max(0, left))
  }
}
