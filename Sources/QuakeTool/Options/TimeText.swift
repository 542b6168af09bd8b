internal import Basics
internal import CommandLine
package import QuakeModel

/// Instants as people write them: the only reader of times on command lines and in parameters of URLs.
///
/// - ISO 8601: `2026-01-31`, `2026-01-31T12:00`, `2026-01-31 12:00:00+02:00`; in UTC without an offset.
/// - `now`; `today` and `yesterday`, the beginning of that day in UTC; `yesterday 14:30`.
/// - A duration before now: `7d`, `7d ago`, `2 h ago`, `1h30m`, `90 minutes ago`, `2 weeks ago`.
package enum TimeText {
  /// The accepted forms, for messages.
  package static let form =
    "a time in UTC such as 2026-01-31T12:00:00Z, a date, yesterday, now, or an age such as 7d or 2 h ago"

  /// The most bytes of a text that can be an instant.
  private static let longest = 64
  private static let days = ["now", "today", "yesterday"]
  private static let dayMicroseconds: Int64 = 86_400_000_000

  /// Reads an instant; nil if the text is none.
  package static func read(_ text: String, now: Timestamp = .now()) -> Timestamp? {
    guard text.utf8.count <= longest else { return nil }
    if let time = Timestamp(iso8601: text) { return time }
    let words = text.lowercased().split(separator: " ").map(String.init)
    guard let first = words.first else { return nil }
    if days.contains(first) { return day(first, words.dropFirst(), now) }
    guard let age = age(words), age >= 0 else { return nil }
    let (microseconds, overflow) = now.microseconds.subtractingReportingOverflow(age)
    let time = Timestamp(microseconds: microseconds)
    return overflow || time < .earliest ? nil : time
  }

  /// Whether a text is an instant that depends on when it is read, such as `2 h ago`.
  package static func isRelative(_ text: String) -> Bool {
    Timestamp(iso8601: text) == nil && read(text) != nil
  }

  /// The word that a mistyped one was probably meant to be.
  package static func suggestion(for text: String) -> String? {
    Suggestion.nearest(to: text.lowercased(), among: days)
  }

  /// Whether a text that is no instant was most likely meant to be one, and not a token.
  static func looksLikeTime(_ text: String) -> Bool {
    text.contains("-") || text.contains(":") || text.contains(" ") || suggestion(for: text) != nil
  }

  private static func day(
    _ word: String, _ rest: ArraySlice<String>, _ now: Timestamp
  ) -> Timestamp? {
    if word == "now" { return rest.isEmpty ? now : nil }
    let back: Int64 = word == "yesterday" ? 1 : 0
    let midnight =
      now.microseconds - (now.microseconds % dayMicroseconds + dayMicroseconds) % dayMicroseconds
      - back * dayMicroseconds
    guard let clock = rest.first else { return Timestamp(microseconds: midnight) }
    // As ISO 8601 writes the time of a day.
    guard rest.count == 1, let time = Timestamp(iso8601: "1970-01-01T\(clock)") else { return nil }
    return Timestamp(microseconds: midnight + time.microseconds)
  }

  /// The names of units, and their letters in durations. A week has none there.
  private static let units: [(names: [String], letter: String, factor: Int64)] = [
    (["w", "week", "weeks"], "d", 7), (["d", "day", "days"], "d", 1),
    (["h", "hr", "hrs", "hour", "hours"], "h", 1),
    (["m", "min", "mins", "minute", "minutes"], "m", 1),
    (["s", "sec", "secs", "second", "seconds"], "s", 1), (["ms"], "ms", 1),
  ]

  /// An age in microseconds, from the words of a text such as `2 h ago`. A bare number is none: it may be that of
  /// a transaction.
  private static func age(_ words: [String]) -> Int64? {
    var words = words
    if words.last == "ago" { words.removeLast() }
    var rest = words.joined()[...]
    guard rest.contains(where: \.isLetter) else { return nil }
    var total: Int64 = 0
    while !rest.isEmpty {
      let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      rest = rest.dropFirst(number.count)
      let name = rest.prefix { $0.isLetter }
      rest = rest.dropFirst(name.count)
      guard let unit = units.first(where: { $0.names.contains(String(name)) }),
        let part = Duration(text: String(number) + unit.letter)
      else { return nil }
      let (scaled, first) = part.wholeMicroseconds.multipliedReportingOverflow(by: unit.factor)
      let (sum, second) = total.addingReportingOverflow(scaled)
      guard !first, !second else { return nil }
      total = sum
      guard total >= 0, total < Int64.max / 4 else { return nil }
    }
    return total
  }
}
