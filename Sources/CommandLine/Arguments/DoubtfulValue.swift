/// A value that an option accepts, but that is most likely a mistyped usual one.
struct DoubtfulValue: Equatable {
  let message: String
  let suggestion: String
}

extension ParsedArguments {
  /// The values that are none of the usual words of their option, but near one of them.
  var doubtfulValues: [DoubtfulValue] {
    options.flatMap { option -> [DoubtfulValue] in
      guard case .usually(let words, let anyCase) = option.completion else { return [] }
      return strings(option.name).flatMap { value in
        option.isList ? value.split(separator: ",").map(String.init) : [value]
      }.compactMap { value in
        let word = anyCase ? value.lowercased() : value
        guard !words.contains(word), let near = Suggestion.nearest(to: word, among: words)
        else { return nil }
        return DoubtfulValue(
          message:
            "'\(PrintableText.line(value, atMost: 100))' is none of the usual values of \(noun) \(spelled(option.name))",
          suggestion: near)
      }
    }
  }
}
