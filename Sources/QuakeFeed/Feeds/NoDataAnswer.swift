/// The words with which services say that no event matches a query.
enum NoDataAnswer {
  private static let words = [
    "no data", "no event", "no earthquake", "no matching", "no match", "no result", "no record",
    "nothing found", "not find any", "did not match", "0 events", "0 matching",
  ]

  /// Whether a short text says so. A page for people does not count: it may say anything.
  static func matches(_ text: String) -> Bool {
    let text = text.lowercased()
    guard !text.contains("<html"), !text.contains("<!doctype") else { return false }
    return words.contains { word in
      guard let found = text.firstRange(of: word) else { return false }
      // "20 events exceed the limit" is another answer than "0 events".
      return found.lowerBound == text.startIndex
        || !text[text.index(before: found.lowerBound)].isLetterOrDigit
    }
  }
}

extension Character {
  fileprivate var isLetterOrDigit: Bool { isLetter || isNumber }
}
