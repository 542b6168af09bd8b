import Glibc
import QuakeModel

extension Timestamp {
  /// The wall clock's time.
  static func systemClock() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }

  /// Milliseconds since 1970, as feeds count.
  var milliseconds: Int64 { microseconds / 1000 }
}
