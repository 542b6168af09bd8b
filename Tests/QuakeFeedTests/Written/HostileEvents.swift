import QuakeModel
import TestSupport

/// Events with values that formats have difficulties with, the same for the same seed.
struct HostileEvents {
  private var generator: SeededGenerator
  private var isFirst = true

  init(seed: UInt64) { generator = SeededGenerator(seed) }

  private mutating func random() -> UInt64 { generator.next() }

  private mutating func below(_ limit: Int) -> Int { Int(random() % UInt64(limit)) }

  private static let pieces = [
    "a", "Pāhala, Hawaii", "\"", "'", ",", "|", "\n", "\r", "\r\n", "\t", " ", "<", ">", "&",
    "&amp;",
    "]]>", "<!--", "\u{1}", "\u{1F}", "\u{7F}", "\u{2028}", "\u{FFFF}", "\u{FFFD}", "\u{FEFF}", "~",
    "~41",
    "%", "\\", "\u{2502}", "\u{2424}", "\u{240D}", "\u{241B}", "\u{2423}", "🌋", "--", "#", "null",
    "=1+1",
    "e\u{301}", ":", "/", ";", "frost_quake",
  ]

  private mutating func text(_ words: [String] = []) -> String {
    if !words.isEmpty, below(3) > 0 { return words[below(words.count)] }
    return (0..<(1 + below(4))).map { _ in Self.pieces[below(Self.pieces.count)] }.joined()
  }

  private mutating func number(_ range: ClosedRange<Double>) -> Double {
    let share = Double(random() >> 11) / Double(1 << 53)
    let value = range.lowerBound + (range.upperBound - range.lowerBound) * share
    switch below(4) {
    case 0: return value.rounded()
    case 1: return (value * 1000).rounded() / 1000
    case 2: return value
    default: return value * 1e-7
    }
  }

  /// The next event.
  ///
  /// - Parameter hasEmptyTexts: Whether texts may be empty, which is different from missing.
  mutating func next(hasEmptyTexts: Bool) -> EventRecord {
    var event = EventRecord()
    let serial = random() % 1_000_000_000
    let kind = isFirst ? 2 : below(4)
    isFirst = false
    switch kind {
    case 0:
      event.set(.code, "emsc:\(serial)_1")
      event.set(.source, "emsc")
      event.set(.net, "INGV")
      event.set(.netCode, "\(serial)_1")
    case 1:
      // An import trims ids, and rejects a code with a control character.
      let code = text().unicodeScalars.filter { $0.value > 0x20 && $0 != "\u{7F}" }
      event.set(.code, String(String.UnicodeScalarView(code)) + "\(serial)")
      event.set(.source, below(2) == 0 ? "local" : text())
      if below(2) == 0 { event.set(.net, text()) }
      if below(2) == 0 { event.set(.netCode, text()) }
    default:
      event.set(.code, "us\(serial)")
      event.set(.source, "usgs")
      event.set(.net, "us")
      event.set(.netCode, "\(serial)")
    }
    event.set(.time, Timestamp(microseconds: Int64(random() % 2_000_000_000_000_000)))
    event.set(.longitude, number(-180...180))
    event.set(.latitude, number(-90...90))
    if below(8) > 0 { event.set(.depth, number(-10...700)) }
    if below(8) > 0 { event.set(.magnitude, number(-2...9)) }
    for (column, words) in [
      (.magnitudeType, ["ml", "mww", "Mb"]), (.place, ["10 km N of X", "Pāhala "]),
      (.type, ["earthquake", "quarry blast", "frost_quake", "ice quake", "Frost quake "]),
      (.status, ["reviewed", "automatic", "REVIEWED", "final", "best"]),
      (.title, []), (.url, []), (.detail, []), (.alert, ["green"]),
      (.ids, [",us1,us2,"]), (.sources, [",us,"]), (.types, [",origin,"]),
    ] as [(EventColumn, [String])] {
      switch below(8) {
      case 0: break
      case 1 where hasEmptyTexts: event.set(column, "")
      case _ where column == .ids:
        event.set(column, text(words).filter { !$0.isWhitespace })
      default: event.set(column, text(words))
      }
    }
    if below(4) > 0 {
      event.set(.updated, Timestamp(microseconds: Int64(random() % 2_000_000_000_000_000)))
    }
    for column in [EventColumn.cdi, .mmi, .dmin, .rms, .gap] where below(2) == 0 {
      event.set(column, number(0...360))
    }
    for column in [EventColumn.felt, .sig, .nst] where below(2) == 0 {
      event.set(column, integer: below(100_000))
    }
    if below(2) == 0 { event.set(.tsunami, integer: below(2)) }
    return event
  }
}
