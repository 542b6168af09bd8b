internal import QuakeModel

/// QuakeML's words for the store's values.
enum QuakeMLTerms {
  /// The event types of QuakeML 1.2.
  static let eventTypes: [StaticString] = [
    "earthquake", "quarry blast", "explosion", "ice quake", "other event", "mining explosion",
    "not reported", "anthropogenic event", "collapse", "cavity collapse", "mine collapse",
    "building collapse", "accidental explosion", "chemical explosion", "controlled explosion",
    "experimental explosion", "industrial explosion", "road cut", "blasting levee",
    "nuclear explosion", "induced or triggered event", "rock burst", "reservoir loading",
    "fluid injection", "fluid extraction", "crash", "plane crash", "train crash", "boat crash",
    "atmospheric event", "sonic boom", "sonic blast", "acoustic noise", "thunder", "avalanche",
    "snow avalanche", "debris avalanche", "hydroacoustic event", "slide", "landslide", "rockslide",
    "meteorite", "volcanic eruption",
  ]

  /// Other words for them, as older feeds and other catalogues have.
  private static let synonyms: [(String, StaticString)] = [
    ("quarry", "quarry blast"), ("rock slide", "rockslide"), ("rockburst", "rock burst"),
    ("mine blast", "mining explosion"), ("mining", "mining explosion"), ("blast", "explosion"),
    ("chemical", "chemical explosion"), ("nuclear", "nuclear explosion"),
    ("volcano", "volcanic eruption"), ("volcanic", "volcanic eruption"), ("icequake", "ice quake"),
    ("sonicboom", "sonic boom"), ("eq", "earthquake"), ("induced", "induced or triggered event"),
    ("acoustic", "acoustic noise"), ("other", "other event"),
  ]

  /// The event type for the column `type`: the same, or the one that is meant by it, or "other event".
  static func eventType(_ type: UnsafeRawBufferPointer) -> StaticString {
    if let same = eventTypes.first(where: { equals($0, type) }) { return same }
    let words = String(decoding: type.prefix(64), as: UTF8.self).lowercased()
    let normal = String(words.map { $0 == "_" || $0 == "-" ? " " : $0 })
    if let meant = eventTypes.first(where: { "\($0)" == normal }) { return meant }
    return synonyms.first { $0.0 == normal }?.1 ?? "other event"
  }

  /// How an event was evaluated.
  struct Evaluation {
    var mode: StaticString?
    var status: StaticString?
    /// The value of the column `status` that an import makes of it.
    var column: StaticString?
  }

  private static let statuses: [StaticString] = ["preliminary", "confirmed", "final", "rejected"]

  /// The evaluation for the column `status`.
  static func evaluation(_ status: UnsafeRawBufferPointer) -> Evaluation {
    if equals("automatic", status, ignoringCase: true) {
      return Evaluation(mode: "automatic", column: "automatic")
    }
    if equals("reviewed", status, ignoringCase: true)
      || equals("manual", status, ignoringCase: true)
    {
      return Evaluation(mode: "manual", status: "reviewed", column: "reviewed")
    }
    guard let word = statuses.first(where: { equals($0, status, ignoringCase: true) }) else {
      return Evaluation()
    }
    return Evaluation(status: word, column: word)
  }

  /// Whether the text is this word; with `ignoringCase`, it may have capital letters.
  static func equals(
    _ word: StaticString, _ text: UnsafeRawBufferPointer, ignoringCase: Bool = false
  ) -> Bool {
    guard word.utf8CodeUnitCount == text.count else { return false }
    return word.withUTF8Buffer { letters in
      zip(letters, text).allSatisfy { letter, byte in
        letter == byte || ignoringCase && (0x41...0x5A).contains(byte) && letter == byte | 0x20
      }
    }
  }
}
