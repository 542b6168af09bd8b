internal import Glibc

extension Command {
  /// Reads a command line, without the program's own name.
  ///
  /// - `--name value`, `--name=value`, `-n value`, `-nvalue`, and flags together as in `-qv`.
  /// - An option's value may begin with a dash only if it is a number (`--min-magnitude -1`) or
  ///   is written with an equals sign. An optional value is the next word if that does not begin
  ///   with a dash.
  /// - `--` ends the options; `-` is an argument.
  /// - `help` before a subcommand's name is the same as `--help` after it, also as the only argument of a command
  ///   that takes none.
  package func parse(_ arguments: [String]) throws(UsageError) -> ParsedCommandLine {
    var parser = Parser(root: self, arguments: arguments)
    return try parser.parse()
  }
}

/// One pass over a command line.
private struct Parser {
  /// Why the pass ended before the last argument.
  private enum Request { case help, version }

  private var path: CommandPath
  private var remaining: ArraySlice<String>
  private var positionals: [String] = []
  private var occurrences: [String: [ParsedArguments.Occurrence]] = [:]
  private var request: Request?

  init(root: Command, arguments: [String]) {
    path = CommandPath(root)
    remaining = arguments[...]
  }

  mutating func parse() throws(UsageError) -> ParsedCommandLine {
    var optionsEnded = false
    while request == nil, let argument = remaining.popFirst() {
      if optionsEnded || argument == "-" || !argument.hasPrefix("-") || Self.isNumber(argument) {
        try takeWord(argument)
      } else if argument == "--" {
        optionsEnded = true
      } else if argument.hasPrefix("--") {
        try takeLongOption(argument)
      } else {
        try takeShortOptions(argument)
      }
    }
    switch request {
    case .help: return .help(path.help())
    case .version:
      let build = path.root.build.map { " (\($0))" } ?? ""
      return .version("\(path.root.name) \(path.root.version ?? "")\(build)\n")
    case nil: break
    }
    if let standard = path.command.standardSubcommand { path = path.appending(standard) }
    guard path.command.subcommands.isEmpty else {
      return .shortHelp(path.shortHelp(), commandNeeded)
    }
    try checkCompleteness()
    return .run(
      ParsedArguments(
        path: path.names, positionals: positionals, options: path.allOptions,
        declaredPositionals: path.command.positionals, occurrences: occurrences))
  }

  // MARK: Words

  private mutating func takeWord(_ word: String) throws(UsageError) {
    if !path.command.subcommands.isEmpty {
      try takeSubcommand(word)
    } else if takesAnother {
      positionals.append(word)
    } else if word == "help", positionals.isEmpty {
      request = .help
    } else {
      // Word processors make a dash of two hyphens.
      let isDashed = word.hasPrefix("–") || word.hasPrefix("—")
      let spelling = "--" + word.drop { "–—-".contains($0) }.prefix { $0 != "=" }
      throw error(
        path.command.positionals.isEmpty
          ? "unexpected argument '\(Self.shown(word))': '\(path.title)' takes no arguments"
          : "unexpected argument '\(Self.shown(word))': '\(path.title)' takes only "
            + path.command.positionals.map(\.usage).joined(separator: " "),
        suggestion: isDashed ? suggestion(for: spelling) : nil)
    }
  }

  /// A word as it may be repeated: of a URL only the scheme, since the rest may hold secrets.
  private static func shown(_ word: String) -> String {
    guard let scheme = word.firstRange(of: "://") else { return word }
    return word[..<scheme.upperBound] + "..."
  }

  private var takesAnother: Bool {
    switch path.command.positionals.last?.count {
    case nil: false
    case .one, .optional: positionals.count < path.command.positionals.count
    case .oneOrMore, .any, .passedThrough: true
    }
  }

  private mutating func takeSubcommand(_ word: String) throws(UsageError) {
    let subcommands = path.command.subcommands
    if let chosen = subcommands.first(where: { $0.name == word }) {
      let group = path
      path = path.appending(chosen)
      // An option before the name may belong to the group's default subcommand.
      let known = path.allOptions
      let other = group.allOptions.first { option in
        occurrences[option.name] != nil && !known.contains { $0.name == option.name }
      }
      if let other {
        let name = "--" + other.name
        throw error("unknown option '\(name)'", suggestion: suggestion(for: name))
      }
      if chosen.passesThrough { passThrough() }
    } else if word == "help" {
      while let name = remaining.popFirst() {
        // An option would not change the help.
        if name.hasPrefix("-") { continue }
        guard let chosen = path.command.subcommands.first(where: { $0.name == name }) else {
          throw unknownSubcommand(name)
        }
        path = path.appending(chosen)
      }
      request = .help
    } else {
      throw unknownSubcommand(word)
    }
  }

  private func unknownSubcommand(_ word: String) -> UsageError {
    let names = path.command.subcommands.map(\.name)
    guard !names.isEmpty else { return error("'\(path.title)' has no command '\(word)'") }
    return error(
      "unknown command '\(word)' for '\(path.title)': expected "
        + ParsedArguments.alternatives(names),
      suggestion: Suggestion.nearest(to: word, among: names))
  }

  private mutating func passThrough() {
    if remaining.first == "--help" {
      request = .help
    } else {
      positionals = Array(remaining.first == "--" ? remaining.dropFirst() : remaining)
    }
    remaining = []
  }

  // MARK: Options

  private mutating func takeLongOption(_ argument: String) throws(UsageError) {
    let body = argument.dropFirst(2)
    let name: String
    var attached: String?
    if let equals = body.firstIndex(of: "=") {
      name = String(body[..<equals])
      attached = String(body[body.index(after: equals)...])
    } else {
      name = String(body)
    }
    for option in path.allOptions {
      guard let spelling = option.spellings.first(where: { $0.name == name }) else { continue }
      return try take(option, shown: "--" + name, attached: attached, isOn: spelling.isOn)
    }
    throw error("unknown option '--\(name)'", suggestion: suggestion(for: "--" + name))
  }

  /// The option that was meant by one that the command does not have, with the command where that is another.
  private func suggestion(for option: String) -> String? {
    let name = option.drop { $0 == "-" }
    if let command = path.command.subcommands.first(where: { $0.name == name }) {
      return "\(path.title) \(command.name)"
    }
    // Leading dashes keep the comparison between whole spellings.
    func spellings(_ options: [Option]) -> [String] {
      options.flatMap(\.spellings).map { "--" + $0.name }
    }
    // `--format` is more likely that of the data than that of the log.
    let own = path.allOptions
    if let near = Suggestion.nearest(to: option, among: spellings(own))
      ?? Suggestion.byParts(option, among: spellings(own.filter { $0 != .logFormat }))
    {
      return near
    }
    // An option of a subcommand, before the subcommand's name or without it.
    let others = path.command.subcommands.map { command in
      (name: command.name, options: spellings(path.appending(command).ownOptions))
    }
    let searches: [(String, [String]) -> String?] = [
      { word, names in names.first { $0 == word } },
      { Suggestion.nearest(to: $0, among: $1) }, { Suggestion.byParts($0, among: $1) },
    ]
    for search in searches {
      let near = others.compactMap { other in
        search(option, other.options).map { (name: other.name, option: $0) }
      }
      guard let first = near.first else { continue }
      let named = near.first { remaining.contains($0.name) }
      let command = named?.name ?? (near.count == 1 ? first.name : "COMMAND")
      return "\(path.title) \(command) \((named ?? first).option)"
    }
    return nil
  }

  private mutating func takeShortOptions(_ argument: String) throws(UsageError) {
    var letters = argument.dropFirst()
    while request == nil, let letter = letters.popFirst() {
      guard let option = path.allOptions.first(where: { $0.short == letter }) else {
        // `-json` is more likely a long option that lacks a dash than four short ones.
        let isWord = argument.dropFirst().count > 1
        let long = "-" + argument.prefix { $0 != "=" }
        throw error(
          "unknown option '-\(letter)'" + (isWord ? " in '\(argument)'" : ""),
          suggestion: long.count > 4 ? suggestion(for: long) : nil)
      }
      if option.placeholder != nil, !letters.isEmpty {
        let attached = letters.first == "=" ? letters.dropFirst() : letters
        return try take(option, shown: "-\(letter)", attached: String(attached), isOn: true)
      }
      try take(option, shown: "-\(letter)", attached: nil, isOn: true)
    }
  }

  private mutating func take(
    _ option: Option, shown: String, attached: String?, isOn: Bool
  ) throws(UsageError) {
    var value = attached
    if let placeholder = option.placeholder {
      if value == nil {
        value =
          option.valueIsOptional ? nextWord() : try nextValue(of: shown, placeholder)
      }
    } else if let attached {
      throw error("option \(shown) takes no value, but '\(attached)' is given")
    }
    if option == .helpRequest {
      request = .help
    } else if option == .versionRequest {
      request = .version
    } else {
      let earlier = occurrences[option.name] ?? []
      if let first = earlier.first, !option.isRepeatable {
        throw error(
          first.isOn == isOn
            ? "option --\(isOn ? "" : "no-")\(option.name) is given more than once"
            : "options --\(option.name) and --no-\(option.name) contradict each other")
      }
      occurrences[option.name] = earlier + [.init(value: value, isOn: isOn)]
    }
  }

  private mutating func nextValue(
    of shown: String, _ placeholder: String
  ) throws(UsageError) -> String {
    guard let next = remaining.first else {
      throw error("option \(shown) needs a value: \(placeholder)")
    }
    guard let word = nextWord() else {
      // Most likely forgotten; taking the next option for the value would hide that.
      let spelling = shown.hasPrefix("--") ? shown + "=" : shown
      throw error(
        "option \(shown) needs a value: \(placeholder)"
          + " (for a value that begins with a dash write '\(spelling)\(next)')")
    }
    return word
  }

  /// Takes the next word, unless it looks like an option.
  private mutating func nextWord() -> String? {
    guard let next = remaining.first,
      next == "-" || !next.hasPrefix("-") || Self.isNumber(next)
    else { return nil }
    remaining.removeFirst()
    return next
  }

  // MARK: The whole

  private func checkCompleteness() throws(UsageError) {
    let command = path.command
    let required = command.positionals.filter { $0.count == .one || $0.count == .oneOrMore }
    if positionals.count < required.count {
      let missing = required[positionals.count]
      throw error("missing argument \(missing.usage): \(missing.help)")
    }
  }

  private var commandNeeded: UsageError {
    error(
      "'\(path.title)' needs a command: "
        + ParsedArguments.alternatives(path.command.subcommands.map(\.name)))
  }

  private func error(_ message: String, suggestion: String? = nil) -> UsageError {
    UsageError(message, suggestion: suggestion, command: path.title)
  }

  /// Whether a word that begins with a dash is a negative number or a list of them.
  private static func isNumber(_ word: String) -> Bool {
    let body = word.utf8.dropFirst()
    guard word.utf8.first == UInt8(ascii: "-"), let first = body.first else { return false }
    if first == UInt8(ascii: ".") { return body.dropFirst().first.map(isDigit) ?? false }
    return isDigit(first)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

/// An error in a command line, in a configuration file or in the parameters of a URL.
package struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The message, with the name of the option or argument and the accepted values.
  package let message: String
  /// The option or command that the user may have meant, ready to be typed.
  package let suggestion: String?
  /// The command whose help explains the usage, such as `quake-ingest run`.
  package let command: String
  /// Whether each value is valid by itself, and only their combination is not.
  package var isContradiction = false

  package init(_ message: String, suggestion: String? = nil, command: String) {
    self.message = message
    self.suggestion = suggestion
    self.command = command
  }

  /// The same error with its place before the message.
  package func located(_ place: String) -> UsageError {
    var located = UsageError("\(place): \(message)", suggestion: suggestion, command: command)
    located.isContradiction = isContradiction
    return located
  }

  package var hints: [String] {
    var hints: [String] = []
    if let suggestion { hints.append("did you mean '\(suggestion)'?") }
    hints.append("see '\(command) --help'")
    return hints
  }

  /// The message and its hints in one line.
  package var description: String { ([message] + hints).joined(separator: "; ") }
}

extension UsageError {
  /// Whether two errors read the same.
  package static func == (left: UsageError, right: UsageError) -> Bool {
    (left.message, left.suggestion, left.command) == (
      right.message, right.suggestion, right.command
    )
  }
}

package enum ProcessArguments {
  /// All of them except the program's name.
  ///
  /// A program that imports this module cannot write `CommandLine.arguments`: the module hides the
  /// standard library's type of the same name.
  package static var current: [String] { Array(Swift.CommandLine.arguments.dropFirst()) }

  /// Overwrites an option's value in the process list, where other users of the machine could read it.
  package static func hide(_ value: String) {
    let argv = Swift.CommandLine.unsafeArgv
    for index in 1..<max(1, Int(Swift.CommandLine.argc)) {
      guard let argument = argv[index] else { continue }
      let text = String(cString: argument)
      guard text == value || text.hasSuffix("=" + value) || text == "-d" + value else { continue }
      let count = value.utf8.count
      memset(argument + (text.utf8.count - count), 0x78, count)
    }
  }
}

package enum Environment {
  /// The variable's value, which may be empty, or nil if the variable is not set.
  package static func value(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }

  /// Whether libcurl may use a proxy, because one of the variables that it reads names one.
  package static var namesProxy: Bool {
    ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
      value($0)?.isEmpty == false
    }
  }
}
