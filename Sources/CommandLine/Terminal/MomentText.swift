internal import Glibc
internal import Synchronization

/// The one form of moments in text for people: ISO 8601 in whole seconds, in UTC (`2026-01-31T12:00:00Z`) or
/// in the time zone of the user (`2026-01-31T13:00:00+01:00`). Every option that takes a time reads it.
package enum MomentText {
  private static let isLocal = Atomic<Bool>(false)

  /// Whether moments are shown in another time zone than UTC.
  package static var usesLocalTime: Bool { isLocal.load(ordering: .relaxed) }

  /// Shows moments in UTC from now on.
  package static func useUTC() { isLocal.store(false, ordering: .relaxed) }

  /// Shows moments in the time zone of the process (`TZ`) from now on, instead of UTC.
  package static func useLocalTime() {
    tzset()
    isLocal.store(true, ordering: .relaxed)
  }

  /// The text of a moment.
  ///
  /// - Parameter microseconds: Since 1970-01-01T00:00:00Z.
  package static func text(microseconds: Int64) -> String {
    var seconds = Int(microseconds / 1_000_000) - (microseconds % 1_000_000 < 0 ? 1 : 0)
    var parts = tm()
    let isLocal = usesLocalTime
    if isLocal { localtime_r(&seconds, &parts) } else { gmtime_r(&seconds, &parts) }
    let date = "\(pad(parts.tm_year + 1900, 4))-\(pad(parts.tm_mon + 1))-\(pad(parts.tm_mday))"
    let time = "\(pad(parts.tm_hour)):\(pad(parts.tm_min)):\(pad(parts.tm_sec))"
    return "\(date)T\(time)" + (isLocal ? offset(parts.tm_gmtoff / 60) : "Z")
  }

  /// `Z`, or the difference to UTC: `+01:00`.
  private static func offset(_ minutes: Int) -> String {
    guard minutes != 0 else { return "Z" }
    let magnitude = Int32(minutes.magnitude)
    return "\(minutes < 0 ? "-" : "+")\(pad(magnitude / 60)):\(pad(magnitude % 60))"
  }

  private static func pad(_ number: Int32, _ width: Int = 2) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
