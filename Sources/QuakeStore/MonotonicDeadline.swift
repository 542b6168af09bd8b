import Glibc

/// A moment to give up at, by the clock that nobody sets. (`ContinuousClock` is part of the
/// concurrency runtime, which programs that only make blocking calls need not load.)
struct MonotonicDeadline: Sendable {
  private let due: Duration

  /// `timeout` from now.
  init(after timeout: Duration) {
    due = Self.now + timeout
  }

  /// Whether the moment has come.
  var hasPassed: Bool { Self.now >= due }

  private static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
