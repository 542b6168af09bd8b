internal import Glibc
public import QuakeModel

extension Timestamp {
  /// The present, by the system's clock.
  public static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}

/// A moment on the clock that no one sets back. The standard library's own clocks belong to its
/// concurrency runtime, which would double the memory of an idle `quake-watch`.
struct ContinuousInstant {
  private let nanoseconds: Int64

  static func now() -> ContinuousInstant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return ContinuousInstant(
      nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// How long ago it was.
  var elapsed: Duration { .nanoseconds(Self.now().nanoseconds - nanoseconds) }
}

extension Duration {
  /// In seconds.
  var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
