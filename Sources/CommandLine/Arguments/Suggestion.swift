/// Finds the name that a user may have mistyped.
public enum Suggestion {
  /// The candidate nearest to `word`, or nil if none is near enough.
  public static func nearest(to word: String, among candidates: [String]) -> String? {
    var best: (distance: Int, candidate: String)?
    for candidate in candidates {
      // The beginning of a name is most likely an abbreviation of it.
      let isAbbreviation = word.utf8.count >= 2 && candidate.hasPrefix(word)
      let distance = isAbbreviation ? 1 : editDistance(word, candidate)
      if distance < best?.distance ?? Int.max { best = (distance, candidate) }
    }
    guard let best, best.distance <= max(1, word.utf8.count / 3) else { return nil }
    return best.candidate
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
