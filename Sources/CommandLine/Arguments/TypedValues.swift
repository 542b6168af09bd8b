extension ParsedArguments {
  /// The option's value as a whole number, or nil when the option is not given.
  public func integer(_ name: String) throws(UsageError) -> Int? {
    try number(name, range: nil, kind: "a whole number") { Int($0) }
  }

  /// The option's value as a whole number within `range`.
  public func integer(_ name: String, in range: some ValueRange<Int>) throws(UsageError) -> Int? {
    try number(name, range: range.text { "\($0)" }, kind: "a whole number") { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// The option's value as a finite number, or nil when the option is not given.
  public func double(_ name: String) throws(UsageError) -> Double? {
    try number(name, range: nil, kind: "a number") { Self.finite($0) }
  }

  /// The option's value as a finite number within `range`.
  public func double(
    _ name: String, in range: some ValueRange<Double>
  ) throws(UsageError) -> Double? {
    try number(name, range: range.text(Self.plain), kind: "a number") { text in
      Self.finite(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// The option's value as exactly `count` numbers separated by commas, as in `--bbox W,S,E,N`.
  public func doubles(_ name: String, count: Int) throws(UsageError) -> [Double]? {
    try number(name, range: nil, kind: "\(count) numbers separated by commas") { text in
      let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map {
        Self.finite(String($0))
      }
      let finite = numbers.compactMap { $0 }
      return numbers.count == count && finite.count == count ? finite : nil
    }
  }

  /// The option's value as a duration, or nil when the option is not given.
  public func duration(_ name: String) throws(UsageError) -> Duration? {
    try number(name, range: nil, kind: Self.durationKind) { Duration(text: $0) }
  }

  /// The option's value as a duration within `range`.
  public func duration(
    _ name: String, in range: some ValueRange<Duration>
  ) throws(UsageError) -> Duration? {
    try number(name, range: range.text(\.text), kind: Self.durationKind) { text in
      Duration(text: text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// The option's value as one of `words`, or nil when the option is not given.
  public func choice(_ name: String, of words: [String]) throws(UsageError) -> String? {
    guard let value = string(name) else { return nil }
    return try checked(value, name, among: words)
  }

  /// The words of an option such as `--op insert,delete`, separated by commas, of all its occurrences.
  public func list(_ name: String) throws(UsageError) -> [String] {
    var words: [String] = []
    for value in strings(name) {
      for word in value.split(separator: ",", omittingEmptySubsequences: false) {
        guard !word.isEmpty else {
          throw invalidValue(
            value, for: name, expected: "words separated by commas, none of it empty")
        }
        words.append(String(word))
      }
    }
    return words
  }

  /// The words of an option such as `--op insert,delete`, each of which must be one of `words`.
  public func list(_ name: String, of words: [String]) throws(UsageError) -> [String] {
    let values = try list(name)
    for value in values { _ = try checked(value, name, among: words) }
    return values
  }

  private func checked(
    _ value: String, _ name: String, among words: [String]
  ) throws(UsageError) -> String {
    guard words.contains(value) else {
      throw invalidValue(
        value, for: name, expected: Self.alternatives(words),
        suggestion: Suggestion.nearest(to: value, among: words))
    }
    return value
  }

  private func number<Value>(
    _ name: String, range: String?, kind: String, convert: (String) -> Value?
  ) throws(UsageError) -> Value? {
    guard let text = string(name) else { return nil }
    if let value = convert(text) { return value }
    throw invalidValue(
      text, for: name, expected: range.map { "\(kind), \($0)" } ?? kind)
  }

  private static let durationKind = "a duration such as 500ms, 60s, 5m, 1h or 2d"

  /// `a`, `a or b`, `a, b or c`.
  static func alternatives(_ words: [String]) -> String {
    guard words.count > 1, let last = words.last else { return words.first ?? "nothing" }
    return words.dropLast().joined(separator: ", ") + " or " + last
  }

  private static func finite(_ text: String) -> Double? {
    // Double's initialiser also accepts "nan", "inf" and hexadecimal, which are not valid here.
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }),
      let value = Double(text), value.isFinite
    else { return nil }
    return value
  }

  private static func plain(_ value: Double) -> String {
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
