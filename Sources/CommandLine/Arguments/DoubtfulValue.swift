/// A value that an option accepts, but that is most likely a mistyped usual one.
struct DoubtfulValue: Equatable {
  let message: String
  let suggestion: String
}

extension ParsedArguments {
  /// The values that are none of the usual words of their option, but near one of them.
  var doubtfulValues: [DoubtfulValue] {
    options.flatMap { option -> [DoubtfulValue] in
      guard case .usually(let words, let anySpelling) = option.completion else { return [] }
      return strings(option.name).flatMap { value in
        option.isList ? value.split(separator: ",").map(String.init) : [value]
      }.compactMap { value in
        let word = anySpelling ? value.lowercased() : value
        let isUsual =
          anySpelling
          ? words.contains { Self.letters(of: $0) == Self.letters(of: word) } : words.contains(word)
        guard !isUsual, let near = Suggestion.nearest(to: word, among: words) else { return nil }
        return DoubtfulValue(
          message:
            "'\(PrintableText.line(value, atMost: 100))' is none of the usual values of \(noun) \(spelled(option.name))",
          suggestion: near)
      }
    }
  }

  private static func letters(of word: String) -> String { word.filter { !" _-".contains($0) } }
}
