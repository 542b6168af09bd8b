internal import Glibc
internal import SwiftOverlayShims  // where this compiler finds the members of timespec

/// A clock that is never set back (`CLOCK_MONOTONIC`), for measuring and for deadlines.
///
/// The standard library's `ContinuousClock` belongs to the concurrency runtime, which would double the
/// memory of an idle `quake-watch`.
package enum MonotonicClock {
  /// The time since an arbitrary moment in the past.
  package static func now() -> Duration {
    let time = reading()
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// The same in whole milliseconds.
  package static var milliseconds: Int64 {
    let time = reading()
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  private static func reading() -> timespec {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time
  }
}

/// The system's date and time (`CLOCK_REALTIME`), which may be set back.
package enum WallClock {
  /// Microseconds since 1970-01-01T00:00:00Z.
  package static var microseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}

/// A moment on the monotonic clock by which something must have happened.
package struct Deadline: Comparable, Sendable {
  /// Milliseconds on `CLOCK_MONOTONIC`.
  private let milliseconds: Int64

  package init(after duration: Duration) {
    let (moment, overflow) = MonotonicClock.milliseconds.addingReportingOverflow(
      duration.wholeMilliseconds)
    milliseconds = overflow ? .max : moment
  }

  package static func < (left: Deadline, right: Deadline) -> Bool {
    left.milliseconds < right.milliseconds
  }

  package var hasPassed: Bool { MonotonicClock.milliseconds >= milliseconds }

  /// The timeout for `poll(2)`: the milliseconds left, at least 0.
  package var pollTimeout: Int32 { pollTimeout(at: MonotonicClock.milliseconds) }

  /// The timeout at a given moment. The clock must be read only once: if the process was not scheduled
  /// between two readings, the time left could be negative, which poll(2) takes for "forever".
  package func pollTimeout(at now: Int64) -> Int32 {
    let (left, overflow) = milliseconds.subtractingReportingOverflow(now)
    // The subtraction overflows for moments in the far past.
    return overflow ? 0 : Int32(clamping: max(0, left))
  }
}

/// A timer that a loop checks, and that is due at regular intervals.
package struct PeriodicTimer {
  private let interval: Duration
  private var due: Duration

  /// A timer that is due every `interval`, first after `delay`; by default after a whole interval.
  package init(_ interval: Duration, first delay: Duration? = nil) {
    self.interval = interval
    due = MonotonicClock.now() + (delay ?? interval)
  }

  /// The time until it is due, at least zero.
  package var remaining: Duration { max(.zero, due - MonotonicClock.now()) }

  /// Whether it is due. If so, it is due again a whole interval from now.
  package mutating func fireIfDue() -> Bool {
    guard remaining == .zero else { return false }
    due = MonotonicClock.now() + interval
    return true
  }
}

extension Duration {
  package var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }

  /// The length in whole milliseconds, rounded up and limited to the range of poll(2)'s timeout.
  package var pollTimeout: Int32 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < 2_000_000 else { return 2_000_000_000 }
    let milliseconds = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return Int32(seconds * 1_000 + milliseconds)
  }

  /// The length in whole milliseconds: less than one is dropped, and more than `Int64` can hold is its limit.
  package var wholeMilliseconds: Int64 { whole(unitsPerSecond: 1_000) }

  /// The length in whole microseconds: less than one is dropped, and more than `Int64` can hold is its limit.
  package var wholeMicroseconds: Int64 { whole(unitsPerSecond: 1_000_000) }

  private func whole(unitsPerSecond: Int64) -> Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: unitsPerSecond)
    let (sum, sumOverflow) = product.addingReportingOverflow(
      attoseconds / (1_000_000_000_000_000_000 / unitsPerSecond))
    return overflow || sumOverflow ? (seconds < 0 ? .min : .max) : sum
  }
}

/// Pauses between attempts. Each is twice as long as the last, up to a limit, with jitter, so that the
/// clients of one server do not all retry at the same moment.
package struct Backoff {
  private let first: Duration
  private let longest: Duration
  private var current: Duration

  package init(first: Duration = .milliseconds(100), longest: Duration = .seconds(5)) {
    self.first = first
    self.longest = longest
    current = first
  }

  package mutating func reset() {
    current = first
  }

  /// The next pause: a random length between half the nominal one and all of it.
  package mutating func next() -> Duration {
    let pause = current
    current = min(current * 2, longest)
    return pause / 2 + pause / 2 * Double.random(in: 0...1)
  }
}
