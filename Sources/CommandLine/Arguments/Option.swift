/// The completions that a shell offers for the value of an option or argument.
package enum ValueCompletion: Sendable, Equatable {
  case none
  /// Names of files and folders.
  case files
  case folders
  case words([String])
  /// Usually one of these words, although others are valid: a word that is not among them but near one of them
  /// is most likely a mistake. `anySpelling`: ignoring case, spaces, underscores and hyphens.
  /// `synonyms`: words that mean the same, and are not offered.
  case usually([String], anySpelling: Bool = false, synonyms: [String] = [])
  /// One of these words, or of the names of a kind that a database has, such as `feeds`; then, with `files`, the
  /// names of files.
  case found(stored: String? = nil, or: [String] = [], files: Bool = false)

  /// The words that are known in advance.
  var words: [String] {
    switch self {
    case .none, .files, .folders: []
    case .words(let words), .usually(let words, _, _), .found(_, let words, _): words
    }
  }
}

/// One option of a command. The parser, the help, the manual page and the completions all use this
/// description, so they cannot disagree.
package struct Option: Sendable, Equatable {
  /// The value that follows the option's name.
  enum Kind: Sendable, Equatable {
    /// No value: the option is given or not.
    case flag
    /// No value: `--name` turns it on, `--no-name` off, and `initially` applies if neither is given; nil: the
    /// program decides then.
    case toggle(initially: Bool?)
    /// A value, shown in the help as `placeholder`.
    case value(placeholder: String)
    case optionalValue(placeholder: String)
  }

  /// The long name without its dashes.
  package let name: String
  /// The one-letter name, if it has one. It must not be a digit, which the parser would take for a negative
  /// number.
  package private(set) var short: Character?
  /// Its description, as a phrase without a full stop.
  package let help: String
  package private(set) var isRepeatable = false
  /// The default, as the help shows it. The program, not the parser, applies it.
  package private(set) var defaultText: String?
  /// The completions that a shell offers for the value.
  package private(set) var completion = ValueCompletion.none
  /// Whether a configuration file can give it.
  package private(set) var isConfigurable = true
  let kind: Kind

  /// An option without a value: `--json`.
  package static func flag(
    _ name: String, short: Character? = nil, help: String
  ) -> Option {
    Option(name: name, short: short, help: help, kind: .flag)
  }

  /// An option that `--name` turns on and `--no-name` turns off.
  ///
  /// The help shows the form that changes the default: `--no-migrate` if it is on `initially`; both forms if
  /// that is nil, because the program decides.
  package static func toggle(_ name: String, initially: Bool?, help: String) -> Option {
    Option(name: name, help: help, kind: .toggle(initially: initially))
  }

  /// An option with a value: `--limit N`.
  package static func value(
    _ name: String, short: Character? = nil, _ placeholder: String, repeatable: Bool = false,
    default defaultText: String? = nil, completion: ValueCompletion = .none, help: String
  ) -> Option {
    Option(
      name: name, short: short, help: help, isRepeatable: repeatable, defaultText: defaultText,
      completion: completion, kind: .value(placeholder: placeholder))
  }

  /// An option whose value may be omitted: `--exec-batch`, `--exec-batch COMMAND`.
  ///
  /// The next word is its value unless it begins with a dash, so only commands without arguments and
  /// subcommands can have such an option.
  package static func optionalValue(
    _ name: String, _ placeholder: String, help: String
  ) -> Option {
    Option(name: name, help: help, kind: .optionalValue(placeholder: placeholder))
  }

  /// The same option, which a configuration file cannot give.
  package func onCommandLineOnly() -> Option {
    var option = self
    option.isConfigurable = false
    return option
  }

  /// `--log-format`; see ``Diagnostics/obey(_:)``.
  package static let logFormat = Option.value(
    "log-format", "FORMAT", default: "text",
    completion: .words(Diagnostics.Format.allCases.map(\.rawValue)),
    help: "messages as text for people, or as json: one object a line")
  /// `--quiet`; see ``Diagnostics/obey(_:)``.
  package static let quiet = Option.flag(
    "quiet", short: "q", help: "print the result, warnings and errors only")
  /// `--verbose`; see ``Diagnostics/obey(_:)``.
  package static let verbose = Option.flag(
    "verbose", short: "v", help: "also print the details of the work")

  /// `--color` and `--no-color`; see ``ColourChoice``.
  package static let colour = Option.toggle(
    "color", initially: nil,
    help: "colour, or none; by default on a terminal, unless NO_COLOR is set"
  ).onCommandLineOnly()
  /// `--limit N` and `-n N`: how much a command prints at most.
  package static func limit(
    default defaultText: String? = nil, help: String
  ) -> Option {
    .value("limit", short: "n", "N", default: defaultText, help: help)
  }
  /// `--output FILE` and `-o FILE`: where a command writes instead of standard output.
  package static func output(
    help: String = "write this file, which is replaced as a whole, instead of standard output"
  ) -> Option {
    .value("output", short: "o", "FILE", completion: .files, help: help)
  }

  static let helpRequest = Option.flag("help", short: "h", help: "show this help")
    .onCommandLineOnly()
  static let versionRequest = Option.flag("version", help: "show the version").onCommandLineOnly()

  /// The value's placeholder, or nil when the option takes none.
  package var placeholder: String? {
    switch kind {
    case .value(let placeholder), .optionalValue(let placeholder): placeholder
    case .flag, .toggle: nil
    }
  }

  var valueIsOptional: Bool {
    if case .optionalValue = kind { return true }
    return false
  }

  /// The placeholder as it follows the name in the help.
  var shownPlaceholder: String? {
    placeholder.map { valueIsOptional ? "[\($0)]" : $0 }
  }

  /// Whether the value is a list with commas.
  var isList: Bool { placeholder?.hasSuffix(",...") == true }

  /// Every long name that the parser accepts, and whether it turns the option on.
  var spellings: [(name: String, isOn: Bool)] {
    if case .toggle = kind { return [(name, true), ("no-" + name, false)] }
    return [(name, true)]
  }

  /// The long spelling for help and completions, with its dashes.
  var shownName: String {
    switch kind {
    case .toggle(initially: true): "--no-" + name
    case .toggle(initially: nil): "--[no-]" + name
    default: "--" + name
    }
  }

  /// The help with repeatability and default added.
  var fullHelp: String {
    var text = help
    if isRepeatable, placeholder != nil { text += "; may be given more than once" }
    if let defaultText { text += " (default: \(defaultText))" }
    return text
  }
}

/// A range that an option's value must lie in: `1...`, `...10` or `1...10`.
package protocol ValueRange<Bound> {
  associatedtype Bound: Comparable
  var least: Bound? { get }
  var greatest: Bound? { get }
}

extension ValueRange {
  func contains(_ value: Bound) -> Bool {
    if let least, value < least { return false }
    if let greatest, value > greatest { return false }
    return true
  }

  /// The range in words, for an error message.
  func text(_ describe: (Bound) -> String) -> String {
    switch (least, greatest) {
    case (let least?, let greatest?): "from \(describe(least)) to \(describe(greatest))"
    case (let least?, nil): "\(describe(least)) or more"
    case (nil, let greatest?): "at most \(describe(greatest))"
    case (nil, nil): "any"
    }
  }
}

extension ClosedRange: ValueRange {
  package var least: Bound? { lowerBound }
  package var greatest: Bound? { upperBound }
}

extension PartialRangeFrom: ValueRange {
  package var least: Bound? { lowerBound }
  package var greatest: Bound? { nil }
}

extension PartialRangeThrough: ValueRange {
  package var least: Bound? { nil }
  package var greatest: Bound? { upperBound }
}

/// One argument that is not an option: its name, its help and its number of values.
package struct Positional: Sendable, Equatable {
  package enum Count: Sendable, Equatable {
    case one
    /// One or none.
    case optional
    /// One or more; only as the last.
    case oneOrMore
    /// Any number; only as the last.
    case any
    /// Everything after the command's name, options included, is passed on unchanged.
    ///
    /// For a command that starts another program. Only as the command's sole argument; the
    /// command's inherited options then go before its name. A leading `--help` still shows our
    /// help; a leading `--` is dropped, so that `-- --help` reaches the other program.
    case passedThrough
  }

  /// The name as shown in the usage line, in capitals.
  package let name: String
  /// The meaning of the argument, as a phrase without a full stop.
  package let help: String
  package let count: Count
  /// The completions that a shell offers for it.
  package let completion: ValueCompletion

  package init(
    _ name: String, _ count: Count = .one, completion: ValueCompletion = .none, help: String
  ) {
    self.name = name
    self.help = help
    self.count = count
    self.completion = completion
  }

  /// The form in the usage line.
  var usage: String {
    switch count {
    case .one: name
    case .optional: "[\(name)]"
    case .oneOrMore: "\(name)..."
    case .any, .passedThrough: "[\(name)]..."
    }
  }
}
