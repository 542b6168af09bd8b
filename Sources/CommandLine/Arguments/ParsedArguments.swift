package enum ParsedCommandLine: Sendable {
  case run(ParsedArguments)
  /// Print this help on standard output and end with status 0.
  case help(String)
  /// Print this version on standard output and end with status 0.
  case version(String)
  /// Print this short help on standard error and end with status 64: the command line names a group of commands
  /// and none of them. In a log of JSON, the error says so instead.
  case shortHelp(String, UsageError)
}

/// A command line's options and arguments, or the parameters of a URL that are read as options.
///
/// The accessors take the long names of options. Access to an option that the command does not declare is a
/// programming error and traps.
package struct ParsedArguments: Sendable {
  /// One use of an option on the command line, or in a configuration file.
  struct Occurrence: Sendable {
    var value: String?
    var isOn: Bool
    var setting: Setting?
  }

  enum Notation: Sendable {
    /// `--limit 10`.
    case commandLine
    /// `limit=10` in the query of a URL.
    case url
    /// `limit = 10` in a section of a configuration file.
    case section
  }

  /// The chosen command's name and those above it, outermost first: `["quake-admin", "server",
  /// "start"]`.
  package let path: [String]
  /// The arguments that are not options, in order; all arguments if the command passes them to another
  /// program.
  package let positionals: [String]
  let options: [Option]
  let declaredPositionals: [Positional]
  var occurrences: [String: [Occurrence]]
  var notation = Notation.commandLine
  /// The entries in sections of the configuration file, in order.
  package internal(set) var sections: [Setting] = []

  /// The names of the chosen subcommands: `["server", "start"]`.
  package var subcommand: [String] { Array(path.dropFirst()) }

  /// The command as typed: `quake-admin server start`.
  package var title: String { path.joined(separator: " ") }

  package func takes(_ name: String) -> Bool { options.contains { $0.name == name } }

  /// Whether a flag is given; for a toggle, whether it is on.
  package func flag(_ name: String) -> Bool {
    let option = declared(name)
    if let last = occurrences[name]?.last { return last.isOn }
    if case .toggle(let initially) = option.kind { return initially ?? false }
    return false
  }

  package func count(_ name: String) -> Int {
    _ = declared(name)
    return occurrences[name]?.count ?? 0
  }

  package func isGiven(_ name: String) -> Bool { count(name) > 0 }

  /// Whether an option is given by the user, not only by a file of settings.
  package func isTyped(_ name: String) -> Bool {
    _ = declared(name)
    return occurrences[name]?.contains { $0.setting == nil } ?? false
  }

  /// The option's value as it was typed, or nil when the option is not given.
  package func string(_ name: String) -> String? { strings(name).last }

  /// All values of a repeatable option, in order.
  package func strings(_ name: String) -> [String] {
    _ = declared(name)
    return occurrences[name]?.compactMap(\.value) ?? []
  }

  /// The value of the argument declared with this name, or nil if it is omitted.
  package func positional(_ name: String) -> String? {
    guard let index = declaredPositionals.firstIndex(where: { $0.name == name }) else {
      preconditionFailure("argument \(name) is not declared by \(title)")
    }
    return index < positionals.count ? positionals[index] : nil
  }

  /// An option as its user writes it: `--limit`, or `limit` in a URL.
  package func spelled(_ name: String) -> String {
    switch notation {
    case .commandLine: "--" + name
    case .url, .section: name
    }
  }

  /// An option at the beginning of a message: `--limit`, or `parameter limit` in a URL.
  package func subject(_ name: String) -> String {
    switch notation {
    case .commandLine: "--" + name
    case .url: "parameter " + name
    case .section: "key " + name
    }
  }

  /// The word for one option: `option`, or `parameter` in a URL.
  package var noun: String {
    switch notation {
    case .commandLine: "option"
    case .url: "parameter"
    case .section: "key"
    }
  }

  /// An error in the use of this command, for rules that the program checks itself.
  package func usageError(_ message: String, suggestion: String? = nil) -> UsageError {
    UsageError(message, suggestion: suggestion, command: title)
  }

  /// An error about options that are valid by themselves but not together.
  package func contradiction(_ message: String) -> UsageError {
    var error = usageError(message)
    error.isContradiction = true
    return error
  }

  /// An error about an option's value: `invalid value '…' for option --name: expected …`.
  package func invalidValue(
    _ value: String, for name: String, expected: String, suggestion: String? = nil
  ) -> UsageError {
    // A part of a value, or one that is a secret, is in the only entry.
    let only = occurrences[name].flatMap { $0.count == 1 ? $0[0].setting?.place : nil }
    let place = (place(of: value, for: name) ?? only).map { "\($0): " } ?? ""
    let what = place.isEmpty ? "\(noun) \(spelled(name))" : "key '\(name)'"
    return usageError(
      "\(place)invalid value '\(value)' for \(what): expected \(expected)", suggestion: suggestion)
  }

  /// The file and line that give the option this value, such as `quake-ingest.conf:7`; nil if the command
  /// line does.
  package func place(of value: String, for name: String) -> String? {
    occurrences[name]?.last { $0.value == value }?.setting?.place
  }

  /// Throws a `UsageError` if more than one of these options is given.
  package func requireAtMostOne(of names: String...) throws(UsageError) {
    let given = names.filter { isGiven($0) }
    if given.count > 1 {
      throw contradiction(
        "\(noun)s \(given.map { spelled($0) }.joined(separator: " and ")) cannot be used together")
    }
  }

  private func declared(_ name: String) -> Option {
    guard let option = options.first(where: { $0.name == name }) else {
      preconditionFailure("option --\(name) is not declared by \(title)")
    }
    return option
  }
}

extension ParsedArguments {
  /// The option's value as a whole number, or nil when the option is not given.
  package func integer(_ name: String) throws(UsageError) -> Int? {
    try number(name, range: nil, kind: "a whole number") { Int($0) }
  }

  /// The option's value as a whole number within `range`.
  package func integer(_ name: String, in range: some ValueRange<Int>) throws(UsageError) -> Int? {
    try number(name, range: range.text { "\($0)" }, kind: "a whole number") { text in
      Int(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// The option's value as a finite number, or nil when the option is not given.
  package func double(_ name: String) throws(UsageError) -> Double? {
    try number(name, range: nil, kind: "a number") { Self.finite($0) }
  }

  /// The option's value as a finite number within `range`.
  package func double(
    _ name: String, in range: some ValueRange<Double>
  ) throws(UsageError) -> Double? {
    try number(name, range: range.text(Readable.shortest), kind: "a number") { text in
      Self.finite(text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// The option's value as exactly `count` numbers separated by commas, as in `--bbox W,S,E,N`.
  package func doubles(_ name: String, count: Int) throws(UsageError) -> [Double]? {
    try number(name, range: nil, kind: "\(count) numbers separated by commas") { text in
      let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map {
        Self.finite(String($0))
      }
      let finite = numbers.compactMap { $0 }
      return numbers.count == count && finite.count == count ? finite : nil
    }
  }

  /// The option's value as a duration, or nil when the option is not given.
  package func duration(_ name: String) throws(UsageError) -> Duration? {
    try number(name, range: nil, kind: Self.durationKind) { Duration(text: $0) }
  }

  /// The option's value as a duration within `range`.
  package func duration(
    _ name: String, in range: some ValueRange<Duration>
  ) throws(UsageError) -> Duration? {
    try number(name, range: range.text(\.text), kind: Self.durationKind) { text in
      Duration(text: text).flatMap { range.contains($0) ? $0 : nil }
    }
  }

  /// The option's value as an age within `range`: beyond it something is deleted, or not looked at.
  ///
  /// Unlike that of other durations, its unit cannot be left out: who writes 30 may mean days.
  package func age(
    _ name: String, in range: some ValueRange<Duration>
  ) throws(UsageError) -> Duration? {
    try number(name, range: range.text(\.text), kind: "an age with its unit, such as 12h or 90d") {
      text in
      guard let age = Duration(text: text), range.contains(age) else { return nil }
      return age == .zero || text.last?.isLetter == true ? age : nil
    }
  }

  /// The option's value as a number of bytes, at least 1, or nil when the option is not given.
  package func size(_ name: String) throws(UsageError) -> Int? {
    try number(name, range: nil, kind: "a size such as 500MiB or 2GiB") { text in
      ByteSize.bytes(text).flatMap { $0 > 0 ? $0 : nil }
    }
  }

  /// The option's value as one of `words`, or nil when the option is not given.
  package func choice(_ name: String, of words: [String]) throws(UsageError) -> String? {
    guard let value = string(name) else { return nil }
    return try checked(value, name, among: words)
  }

  /// The words of an option such as `--op insert,delete`, separated by commas, of all its occurrences.
  package func list(_ name: String) throws(UsageError) -> [String] {
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
  package func list(_ name: String, of words: [String]) throws(UsageError) -> [String] {
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
}

extension ParsedArguments {
  /// Reads the parameters of a URL as the options of the same names, so that both obey the same rules. A name
  /// may have underscores instead of dashes: `min_magnitude`. The value of a flag is `true` or `false`; the
  /// name alone stands for `true`.
  ///
  /// - Parameters:
  ///   - title: The resource, for messages.
  ///   - options: The options that it has.
  ///   - parameters: Names and values, decoded, in their order.
  /// - Throws: `UsageError` if a parameter is not known, is given twice, or is a flag with another value.
  package init(
    url title: String, options: [Option], parameters: some Sequence<(name: String, value: String)>
  ) throws(UsageError) {
    self.init(
      path: [title], positionals: [], options: options, declaredPositionals: [], occurrences: [:],
      notation: .url)
    for parameter in parameters {
      let name = String(parameter.name.map { $0 == "_" ? "-" : $0 })
      guard let option = options.first(where: { $0.name == name }) else {
        throw usageError(
          "unknown parameter '\(parameter.name)'",
          suggestion: Suggestion.option(name, among: options.map(\.name)))
      }
      let earlier = occurrences[name] ?? []
      guard earlier.isEmpty || option.isRepeatable else {
        throw usageError("parameter \(name) is given more than once")
      }
      var occurrence = Occurrence(value: parameter.value, isOn: true)
      if option.placeholder == nil {
        guard let isOn = Self.flag(parameter.value) else {
          throw invalidValue(parameter.value, for: name, expected: "true or false")
        }
        // A flag that is off counts as one that is not given.
        guard isOn else { continue }
        occurrence.value = nil
      }
      occurrences[name] = earlier + [occurrence]
    }
  }

  private static func flag(_ text: String) -> Bool? {
    switch text {
    case "", "true", "1": true
    case "false", "0": false
    default: nil
    }
  }
}

/// A value that an option accepts, but that is most likely a mistyped usual one.
struct DoubtfulValue: Equatable {
  let message: String
  let suggestion: String
}

extension ParsedArguments {
  /// The values that are none of the usual words of their option, but near one of them.
  var doubtfulValues: [DoubtfulValue] {
    options.flatMap { option -> [DoubtfulValue] in
      guard case .usually(let words, let anySpelling, let synonyms) = option.completion else {
        return []
      }
      let known = words + synonyms
      return strings(option.name).flatMap { value in
        option.isList ? value.split(separator: ",").map(String.init) : [value]
      }.compactMap { value in
        let word = anySpelling ? value.lowercased() : value
        let isUsual =
          anySpelling
          ? known.contains { Self.letters(of: $0) == Self.letters(of: word) } : known.contains(word)
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

/// A value that may have a duration after its last `@`, such as `all_day@5m`.
package struct TimedValue: Sendable, Equatable {
  /// The part before the duration.
  package let value: String
  package let duration: Duration?

  /// Splits `text`. If the part after the last `@` is not a duration, as in
  /// `https://user:password@example.org/feed`, it belongs to the value.
  package init(_ text: String) {
    if let at = text.lastIndex(of: "@"), at != text.startIndex,
      let duration = Duration(text: String(text[text.index(after: at)...]))
    {
      value = String(text[..<at])
      self.duration = duration
    } else {
      value = text
      duration = nil
    }
  }
}
