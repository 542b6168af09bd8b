/// Finds the name that a user may have mistyped.
package enum Suggestion {
  /// The candidate nearest to `word`, or nil if none is near enough.
  package static func nearest(to word: String, among candidates: [String]) -> String? {
    let word = word.lowercased()
    var best: (distance: Int, candidate: String)?
    for candidate in candidates {
      let name = candidate.lowercased()
      // The beginning of a name is most likely an abbreviation of it.
      let isAbbreviation = word.utf8.count >= 2 && name.hasPrefix(word)
      let distance = isAbbreviation ? 1 : editDistance(word, name)
      if distance < best?.distance ?? Int.max { best = (distance, candidate) }
    }
    guard let best, best.distance <= max(1, word.utf8.count / 3) else { return nil }
    return best.candidate
  }

  /// The first candidate that `word` names by its parts: `minmag`, `mag-min` and `magnitude` all lead to
  /// `min-magnitude`. One with all parts comes first.
  static func byParts(_ word: String, among candidates: [String]) -> String? {
    let word = word.lowercased()
    return candidates.first { isMadeOfParts(word, of: $0.lowercased(), all: true) }
      ?? candidates.first { isMadeOfParts(word, of: $0.lowercased(), all: false) }
  }

  /// The name of an option that was meant, whether it was mistyped or named by its parts.
  static func option(_ word: String, among names: [String]) -> String? {
    nearest(to: word, among: names) ?? byParts(word, among: names)
  }

  /// Whether the word consists of beginnings of the parts of a name, each of three letters or more, in any
  /// order.
  ///
  /// - Parameter all: Whether each part must be there.
  private static func isMadeOfParts(_ word: String, of name: String, all: Bool) -> Bool {
    func isBetweenParts(_ character: Character) -> Bool { character == "-" || character == "_" }
    var left = name.split(whereSeparator: isBetweenParts)
    var rest = Substring(word.filter { !isBetweenParts($0) })
    guard left.count > 1, !rest.isEmpty else { return false }
    while !rest.isEmpty {
      let shared = left.map { part in zip(part, rest).prefix { $0.0 == $0.1 }.count }
      guard let longest = shared.max(), longest >= 3,
        let index = shared.firstIndex(of: longest)
      else { return false }
      rest = rest.dropFirst(longest)
      left.remove(at: index)
    }
    return !all || left.isEmpty
  }

  /// The least number of insertions, deletions, replacements and swaps of neighbours that turn one word into
  /// the other.
  static func editDistance(_ first: String, _ second: String) -> Int {
    let first = Array(first.unicodeScalars)
    let second = Array(second.unicodeScalars)
    var beforePrevious: [Int] = []
    var previous = Array(0...second.count)
    for i in first.indices {
      var current = [i + 1]
      for j in second.indices {
        var distance = min(
          previous[j + 1] + 1, current[j] + 1, previous[j] + (first[i] == second[j] ? 0 : 1))
        if i > 0, j > 0, first[i] == second[j - 1], first[i - 1] == second[j] {
          distance = min(distance, beforePrevious[j - 1] + 1)
        }
        current.append(distance)
      }
      beforePrevious = previous
      previous = current
    }
    return previous[second.count]
  }
}
