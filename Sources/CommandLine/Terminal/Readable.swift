internal import Glibc
internal import Synchronization

package enum Readable {
  /// `1,234,567`.
  package static func count(_ number: Int) -> String {
    let digits = Array("\(number.magnitude)".utf8)
    var text: [UInt8] = number < 0 ? [UInt8(ascii: "-")] : []
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text.append(UInt8(ascii: ",")) }
      text.append(digit)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// A number of things with their noun: `0 events`, `1 event`, `1,234 events`.
  ///
  /// - Parameter noun: The noun in the singular, also with words after it: `transaction of the history`. Its
  ///   first word gets an `s` in the plural.
  package static func count(_ number: some BinaryInteger, _ noun: StaticString) -> String {
    let words = "\(noun)"
    let number = Int(clamping: number)
    guard number != 1 else { return "1 \(words)" }
    let end = words.firstIndex(of: " ") ?? words.endIndex
    return "\(count(number)) \(words[..<end])s\(words[end...])"
  }

  /// `999 B`, `1.5 KiB`, `20 MiB`: one decimal below ten.
  package static func bytes(_ number: Int) -> String {
    if number < 1024 { return "\(number) B" }
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    var scaled = number
    var unit = 0
    while scaled >= 1024 * 1024 {
      scaled /= 1024
      unit += 1
    }
    let tenths = (scaled * 10 + 512) / 1024
    if tenths >= 10_240 { return "1.0 \(units[unit + 1])" }
    if tenths >= 100 { return "\((scaled + 512) / 1024) \(units[unit])" }
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }

  /// `12 ms`, `3.4 s`, `42 s`, `5m 03s`, `2h 05m`, `3d 04h`.
  package static func duration(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    if seconds < 0 || attoseconds < 0 { return "-" + self.duration(.zero - duration) }
    let milliseconds = attoseconds / 1_000_000_000_000_000
    if seconds == 0 { return "\(milliseconds) ms" }
    if seconds < 10 { return "\(seconds).\(milliseconds / 100) s" }
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3_600 { return "\(seconds / 60)m \(twoDigits(seconds % 60))s" }
    if seconds < 86_400 { return "\(seconds / 3_600)h \(twoDigits(seconds / 60 % 60))m" }
    return "\(seconds / 86_400)d \(twoDigits(seconds / 3_600 % 24))h"
  }

  /// A number with a fixed number of decimals, rounded half away from zero: `4.50`.
  ///
  /// Numbers that are too large for that have the format of the standard library.
  package static func decimal(_ number: Double, places: Int = 1) -> String {
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    let magnitude = number.magnitude * Double(scale) + 0.5
    guard magnitude < 9e15 else { return "\(number)" }
    let scaled = Int(magnitude)
    let sign = number < 0 && scaled > 0 ? "-" : ""
    guard places > 0 else { return "\(sign)\(scaled)" }
    let fraction = "\(scaled % scale)"
    let zeros = String(repeating: "0", count: places - fraction.utf8.count)
    return "\(sign)\(scaled / scale).\(zeros)\(fraction)"
  }

  /// A number with as few digits as tell it from every other, and none for a fraction of zero: `4.5`, `10`.
  package static func shortest(_ number: Double) -> String {
    let text = "\(number)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// A number that may be very large or small, with three digits: `1.23e15`.
  package static func scientific(_ number: Double) -> String {
    guard number != 0, number.isFinite else { return shortest(number) }
    var exponent = 0
    var mantissa = number.magnitude
    while mantissa >= 10 {
      mantissa /= 10
      exponent += 1
    }
    while mantissa < 1 {
      mantissa *= 10
      exponent -= 1
    }
    if mantissa >= 9.995 {
      mantissa = 1
      exponent += 1
    }
    return (number < 0 ? "-" : "") + decimal(mantissa, places: 2) + "e\(exponent)"
  }

  private static func twoDigits(_ number: Int64) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}

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
    guard usesLocalTime else {
      gmtime_r(&seconds, &parts)
      return "\(date(parts))T\(clock(parts))Z"
    }
    localtime_r(&seconds, &parts)
    // Before there were time zones, clocks showed the local mean time, which differs by seconds as well. An offset has
    // none, and with a clock that has them the text would be another moment.
    let minutes = parts.tm_gmtoff / 60
    if parts.tm_gmtoff % 60 != 0 {
      seconds += minutes * 60
      gmtime_r(&seconds, &parts)
    }
    return "\(date(parts))T\(clock(parts))\(offset(minutes))"
  }

  static func date(_ parts: tm) -> String {
    "\(pad(parts.tm_year + 1900, 4))-\(pad(parts.tm_mon + 1))-\(pad(parts.tm_mday))"
  }

  static func clock(_ parts: tm) -> String {
    "\(pad(parts.tm_hour)):\(pad(parts.tm_min)):\(pad(parts.tm_sec))"
  }

  /// `Z`, or the difference to UTC: `+01:00`.
  private static func offset(_ minutes: Int) -> String {
    guard minutes != 0 else { return "Z" }
    let magnitude = Int32(minutes.magnitude)
    return "\(minutes < 0 ? "-" : "+")\(pad(magnitude / 60)):\(pad(magnitude % 60))"
  }

  static func pad(_ number: Int32, _ width: Int = 2) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
