internal import Glibc

/// The types of events. The column `type` has QuakeML 1.2's words; a type for which QuakeML has no word is kept
/// as its source wrote it.
public enum EventTypes {
  /// The types of QuakeML 1.2.
  package static let words: [StaticString] = [
    "earthquake", "quarry blast", "explosion", "ice quake", "other event", "mining explosion",
    "not reported", "not existing", "anthropogenic event", "collapse", "cavity collapse",
    "mine collapse", "building collapse", "accidental explosion", "chemical explosion",
    "controlled explosion", "experimental explosion", "industrial explosion", "road cut",
    "blasting levee", "nuclear explosion", "induced or triggered event", "rock burst",
    "reservoir loading", "fluid injection", "fluid extraction", "crash", "plane crash",
    "train crash", "boat crash", "atmospheric event", "sonic boom", "sonic blast", "acoustic noise",
    "thunder", "avalanche", "snow avalanche", "debris avalanche", "hydroacoustic event", "slide",
    "landslide", "rockslide", "meteorite", "volcanic eruption",
  ]

  /// Those of QuakeML 1.2.
  public static let usual: [String] = words.map { "\($0)" }

  /// Other words for them that USGS, its contributors and SeisComP use, with the word of QuakeML. A word that
  /// says more than QuakeML's, such as `outside of network interest`, is not among them.
  package static let synonyms: [(String, StaticString)] = [
    ("eq", "earthquake"), ("quarry", "quarry blast"), ("blast", "explosion"),
    ("icequake", "ice quake"), ("other", "other event"), ("mine blast", "mining explosion"),
    ("mining", "mining explosion"), ("unknown", "not reported"),
    ("anthropogenic", "anthropogenic event"), ("chemical", "chemical explosion"),
    ("nuclear", "nuclear explosion"), ("induced", "induced or triggered event"),
    ("induced earthquake", "induced or triggered event"), ("rockburst", "rock burst"),
    ("sonicboom", "sonic boom"), ("acoustic", "acoustic noise"), ("rock slide", "rockslide"),
    ("meteor", "meteorite"), ("meteor impact", "meteorite"), ("volcano", "volcanic eruption"),
    ("volcanic", "volcanic eruption"),
  ]

  private static let wordsBySpelling: [String: StaticString] = {
    var table: [String: StaticString] = [:]
    for word in words { table["\(word)"] = word }
    for (synonym, word) in synonyms { table[synonym] = word }
    return table
  }()

  /// The longest spelling that is compared, in bytes.
  private static let longestSpelling = 64

  /// QuakeML's word for a type as a source spells it, in UTF-8: with underscores or hyphens, in any case, or
  /// another word for it. Nil: QuakeML has none.
  package static func word(for type: UnsafeRawBufferPointer) -> StaticString? {
    // Nearly every type is QuakeML's first word.
    if let same = words.first(where: { isEqual($0, type) }) { return same }
    guard type.count <= longestSpelling else { return nil }
    return wordsBySpelling[plain(String(decoding: type, as: UTF8.self))]
  }

  private static func isEqual(_ word: StaticString, _ text: UnsafeRawBufferPointer) -> Bool {
    guard word.utf8CodeUnitCount == text.count, let start = text.baseAddress else { return false }
    return memcmp(word.utf8Start, start, text.count) == 0
  }

  /// The same for text.
  package static func word(for type: String) -> StaticString? {
    var type = type
    return type.withUTF8 { word(for: UnsafeRawBufferPointer($0)) }
  }

  /// Every spelling that means the same type, the one of QuakeML included, also with capitals. Rows and versions
  /// that were stored before types had one spelling, or that somebody wrote by hand, may have any of them.
  package static func spellings(of type: String) -> Set<String> {
    var plainSpellings: Set<String> = [plain(type)]
    if let word = word(for: type) {
      plainSpellings.insert("\(word)")
      for (synonym, meant) in synonyms where "\(meant)" == "\(word)" {
        plainSpellings.insert(synonym)
      }
    }
    return plainSpellings.reduce(into: [type]) { spellings, spelling in
      let words = spelling.split(separator: " ")
      let capitalised = words.map { String($0.prefix(1)).uppercased() + String($0.dropFirst()) }
      let sentence = capitalised.prefix(1) + words.dropFirst().map { String($0) }
      for separator in [" ", "_"] {
        let small = words.joined(separator: separator)
        spellings.formUnion([
          small, sentence.joined(separator: separator), capitalised.joined(separator: separator),
          small.uppercased(),
        ])
      }
    }
  }

  /// In small letters, with single spaces in place of underscores and hyphens.
  private static func plain(_ type: String) -> String {
    LetterCase.foldedASCII(type).split { $0 == " " || $0 == "_" || $0 == "-" }
      .joined(separator: " ")
  }
}

extension EventRecord {
  /// Whether the source says that its agency has deleted the event, or that the event never existed: by the
  /// status `deleted` or `rejected`, in any case, or by QuakeML's type `not existing`.
  ///
  /// Such a record is not an event. An import withdraws the stored event with this code.
  package var isDeletion: Bool {
    isWord("not existing", .type) || isWord("deleted", .status) || isWord("rejected", .status)
  }

  /// Whether the column's text is this word, in any case. The size decides for nearly all records.
  private func isWord(_ word: StaticString, _ column: EventColumn) -> Bool {
    textSize(of: column) == word.utf8CodeUnitCount && withUTF8(column) { $0?.isWord(word) ?? false }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the text is this word, whose letters are small, in any case of ASCII letters.
  package func isWord(_ word: StaticString) -> Bool {
    count == word.utf8CodeUnitCount
      && word.withUTF8Buffer { letters in
        zip(letters, self).allSatisfy { letter, byte in
          letter == byte || (0x41...0x5A).contains(byte) && letter == byte | 0x20
        }
      }
  }
}
