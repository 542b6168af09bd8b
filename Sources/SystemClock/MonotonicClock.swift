internal import Glibc
internal import SwiftOverlayShims  // where this compiler finds the members of timespec

/// A clock that is never set back (`CLOCK_MONOTONIC`), for measuring and for deadlines.
///
/// The standard library's `ContinuousClock` belongs to the concurrency runtime, which would double the
/// memory of an idle `quake-watch`.
public enum MonotonicClock {
  /// The time since an arbitrary moment in the past.
  public static func now() -> Duration {
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
