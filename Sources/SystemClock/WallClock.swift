internal import Glibc
internal import SwiftOverlayShims  // where this compiler finds the members of timespec

/// The system's date and time (`CLOCK_REALTIME`), which may be set back.
public enum WallClock {
  /// Microseconds since 1970-01-01T00:00:00Z.
  public static var microseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
