import Glibc
import SwiftOverlayShims  // where this compiler finds the members of timespec

/// A clock that only goes forward, for measuring and for deadlines.
///
/// The standard library's `ContinuousClock` belongs to the concurrency runtime, which a small
/// program should not have to load.
public enum MonotonicClock {
  /// The time since an arbitrary moment in the past.
  public static func now() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
