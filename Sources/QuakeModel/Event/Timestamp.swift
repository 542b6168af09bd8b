package import Basics

/// An instant: microseconds since 1970-01-01T00:00:00Z, PostgreSQL's own resolution.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z; negative before.
  public var microseconds: Int64

  /// The instant `microseconds` after 1970-01-01T00:00:00Z.
  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// The present time, by the system's clock.
  public static func now() -> Timestamp { Timestamp(microseconds: WallClock.microseconds) }

  /// The first instant that a feed may contain: 0001-01-01T00:00:00Z.
  public static let earliest = Timestamp(microseconds: -62_135_596_800_000_000)
  /// The last instant that a feed may contain: 9999-12-31T23:59:59.999999Z.
  public static let latest = Timestamp(microseconds: 253_402_300_799_999_999)

  /// The earlier of two instants is the smaller.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.microseconds < right.microseconds
  }
}

extension Timestamp {
  /// A date and time of day in UTC, proleptic Gregorian.
  struct Fields {
    var year: Int
    var month: Int
    var day: Int
    var hour: Int
    var minute: Int
    var second: Int
    var microsecond: Int
  }

  private static let dayMicroseconds: Int64 = 86_400_000_000

  /// Days from 1970-01-01 to a date, with March as the first month of the year so that the leap
  /// day comes last.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  var fields: Fields {
    var dayNumber = Int(microseconds / Self.dayMicroseconds)
    var rest = Int(microseconds % Self.dayMicroseconds)
    if rest < 0 {
      rest += Int(Self.dayMicroseconds)
      dayNumber -= 1
    }
    let shifted = dayNumber + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return Fields(
      year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
      day: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1,
      hour: rest / 3_600_000_000, minute: rest / 60_000_000 % 60, second: rest / 1_000_000 % 60,
      microsecond: rest % 1_000_000)
  }

  private static func daysInMonth(_ month: Int, year: Int) -> Int {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }

  /// Reads an ISO 8601 date and time as feeds write it: `2024-01-31`, `2024-01-31T12:34:56`,
  /// optionally with a fraction (digits past the microsecond are rounded), and `Z`, an offset such
  /// as `+02:00`, or nothing (UTC). A space may stand for the `T`. Nil if it is anything else, or
  /// outside the years 1 to 9999.
  public init?(iso8601 bytes: UnsafeRawBufferPointer) {
    var position = 0
    func digits(_ count: Int) -> Int? {
      guard position + count <= bytes.count else { return nil }
      var value = 0
      for _ in 0..<count {
        let digit = bytes[position]
        guard digit >= 0x30, digit <= 0x39 else { return nil }
        value = value * 10 + Int(digit - 0x30)
        position += 1
      }
      return value
    }
    func skip(_ byte: UInt8) -> Bool {
      guard position < bytes.count, bytes[position] == byte else { return false }
      position += 1
      return true
    }
    guard let year = digits(4), year >= 1, skip(0x2D), let month = digits(2),
      (1...12).contains(month), skip(0x2D), let day = digits(2),
      day >= 1, day <= Self.daysInMonth(month, year: year)
    else { return nil }
    var micros = Int64(Self.days(year: year, month: month, day: day)) * Self.dayMicroseconds
    if position < bytes.count {
      guard skip(0x54) || skip(0x20), let hour = digits(2), hour <= 23, skip(0x3A),
        let minute = digits(2), minute <= 59
      else { return nil }
      var second = 0
      let hasSeconds = skip(0x3A)
      if hasSeconds {
        guard let value = digits(2), value <= 60 else { return nil }  // 60: a leap second
        second = value
      }
      micros += Int64(hour * 3600 + minute * 60 + second) * 1_000_000
      if hasSeconds, skip(0x2E) {
        var scale = 100_000
        var count = 0
        while let digit = digits(1) {
          if count == 6 && digit >= 5 { micros += 1 }
          micros += Int64(digit * scale)
          scale /= 10
          count += 1
        }
        guard count > 0 else { return nil }
      }
      if position < bytes.count && !skip(0x5A) && !skip(0x7A) {
        let sign: Int64
        if skip(0x2B) { sign = -1 } else if skip(0x2D) { sign = 1 } else { return nil }
        guard let offsetHour = digits(2), offsetHour <= 15 else { return nil }
        let hasMinute = skip(0x3A) || position < bytes.count
        guard let offsetMinute = hasMinute ? digits(2) : 0, offsetMinute <= 59 else { return nil }
        micros += sign * Int64(offsetHour * 3600 + offsetMinute * 60) * 1_000_000
      }
      guard position == bytes.count else { return nil }
    }
    self.init(microseconds: micros)
    guard self >= Self.earliest, self <= Self.latest else { return nil }
  }

  /// The same for a string.
  public init?(iso8601 text: String) {
    var text = text
    let parsed = text.withUTF8 { Timestamp(iso8601: UnsafeRawBufferPointer($0)) }
    guard let parsed else { return nil }
    self = parsed
  }

  /// The most bytes of an instant's text.
  static let longestText = 32

  /// Writes the instant as ISO 8601 in UTC, with milliseconds, or microseconds if needed
  /// (`2024-01-31T12:34:56.789Z`). A year outside 0 to 9999, which a database can contain but a feed cannot,
  /// has a sign and six digits, as in ISO 8601's expanded form.
  ///
  /// - Returns: The end of the text.
  func put(_ place: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
    let fields = fields
    var end = place
    func digits(_ value: Int, _ count: Int, then separator: UInt8) {
      end = DecimalText.put(value.magnitude, digits: count, end)
      QuakeModel.put(separator, &end)
    }
    func pair(_ value: Int, then separator: UInt8) {
      DecimalText.putPair(value, &end)
      QuakeModel.put(separator, &end)
    }
    if (0...9999).contains(fields.year) {
      DecimalText.putPair(fields.year / 100, &end)
      pair(fields.year % 100, then: 0x2D)
    } else {
      QuakeModel.put(fields.year < 0 ? 0x2D : 0x2B, &end)
      digits(fields.year, 6, then: 0x2D)
    }
    pair(fields.month, then: 0x2D)
    pair(fields.day, then: 0x54)
    pair(fields.hour, then: 0x3A)
    pair(fields.minute, then: 0x3A)
    pair(fields.second, then: 0x2E)
    if fields.microsecond % 1000 == 0 {
      digits(fields.microsecond / 1000, 3, then: 0x5A)
    } else {
      digits(fields.microsecond, 6, then: 0x5A)
    }
    return end
  }

  /// Appends the instant as ISO 8601 in UTC, in the form of `description`.
  public func append(to bytes: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.longestText) { text in
      guard let start = text.baseAddress else { return }
      let count = put(start) - start
      bytes.append(contentsOf: text[..<count])
    }
  }
}

extension Timestamp: CustomStringConvertible {
  /// The instant as ISO 8601 in UTC.
  public var description: String {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Dates as HTTP writes them: `Wed, 31 Jan 2024 12:34:56 GMT`.
public enum HTTPDate {
  private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]  // of 1970-01-01 on
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The date of an instant from 1970 on, without its fraction of a second.
  public static func text(_ time: Timestamp) -> String {
    let iso = time.description.utf8
    func part(_ start: Int, _ count: Int) -> Substring {
      Substring(iso.dropFirst(start).prefix(count))
    }
    let day = days[Int(time.microseconds / 86_400_000_000 % 7)]
    let month = months[(Int(part(5, 2)) ?? 1) - 1]
    return "\(day), \(part(8, 2)) \(month) \(part(0, 4)) \(part(11, 8)) GMT"
  }

  /// The instant of a date in any of the three forms of HTTP; nil for anything else.
  public static func time(_ text: String) -> Timestamp? {
    guard let seconds = Curl.date(text) else { return nil }
    let (microseconds, isTooFar) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let time = Timestamp(microseconds: microseconds)
    return isTooFar || time > .latest ? nil : time
  }
}

extension HTTPHeaders {
  package func date(_ name: String) -> Timestamp? { value(name).flatMap(HTTPDate.time) }

  /// The seconds of `Retry-After`, if any.
  package func retryAfter(now: Timestamp) -> Int? {
    guard let text = value("retry-after") else { return nil }
    if let seconds = Int(text) { return max(0, seconds) }
    guard let instant = HTTPDate.time(text) else { return nil }
    let reference = date("date") ?? now
    // Rounded up, because a request must not be early.
    return max(0, Int((instant.microseconds - reference.microseconds + 999_999) / 1_000_000))
  }
}
