import Basics
import Glibc
import SwiftOverlayShims  // where this compiler finds the members of timespec

/// Formats a moment for log lines.
struct LogTime {
  let seconds: Int
  let milliseconds: Int

  static func now() -> LogTime {
    let milliseconds = WallClock.microseconds / 1000
    return LogTime(seconds: Int(milliseconds / 1000), milliseconds: Int(milliseconds % 1000))
  }

  /// `2026-03-01T12:30:05.123Z`.
  var iso8601: String {
    var clock = seconds
    var parts = tm()
    gmtime_r(&clock, &parts)
    return "\(Self.pad(parts.tm_year + 1900, 4))-\(Self.pad(parts.tm_mon + 1))"
      + "-\(Self.pad(parts.tm_mday))T\(Self.clock(parts)).\(Self.pad(Int32(milliseconds), 3))Z"
  }

  /// `12:30:05`, in the local time zone.
  var timeOfDay: String {
    var clock = seconds
    var parts = tm()
    localtime_r(&clock, &parts)
    return Self.clock(parts)
  }

  private static func clock(_ parts: tm) -> String {
    "\(pad(parts.tm_hour)):\(pad(parts.tm_min)):\(pad(parts.tm_sec))"
  }

  private static func pad(_ number: Int32, _ width: Int = 2) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
