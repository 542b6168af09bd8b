/// What a shell may offer when an option's or an argument's value is being typed.
public enum ValueCompletion: Sendable, Equatable {
  /// Nothing can be guessed.
  case none
  /// Names of files and folders.
  case files
  /// Names of folders.
  case folders
  /// One of these words.
  case words([String])
}

/// One option in a command's table: the parser, the help, the manual page and the completions all
/// read it from here, so that they cannot disagree.
public struct Option: Sendable, Equatable {
  /// What follows the option's name.
  enum Kind: Sendable, Equatable {
    /// Nothing; it is either there or not.
    case flag
    /// Nothing; `--no-name` turns it off, and `initially` holds when neither is given.
    case toggle(initially: Bool)
    /// A value, shown in the help as `placeholder`.
    case value(placeholder: String)
    /// A value or nothing.
    case optionalValue(placeholder: String)
  }

  /// The long name without its dashes.
  public let name: String
  /// The one-letter name, if it has one; a digit would be read as a negative number.
  public let short: Character?
  /// What it does, as a phrase without a full stop.
  public let help: String
  /// Whether it may be given more than once.
  public let isRepeatable: Bool
  /// What holds when it is not given, in words for the help; the program applies it.
  public let defaultText: String?
  /// What a shell may offer for the value.
  public let completion: ValueCompletion
  /// Whether a configuration file can give it.
  public private(set) var isConfigurable = true
  let kind: Kind

  private init(
    name: String, short: Character?, help: String, isRepeatable: Bool, defaultText: String?,
    completion: ValueCompletion, kind: Kind
  ) {
    self.name = name
    self.short = short
    self.help = help
    self.isRepeatable = isRepeatable
    self.defaultText = defaultText
    self.completion = completion
    self.kind = kind
  }

  /// An option without a value: `--json`.
  public static func flag(
    _ name: String, short: Character? = nil, repeatable: Bool = false, help: String
  ) -> Option {
    Option(
      name: name, short: short, help: help, isRepeatable: repeatable, defaultText: nil,
      completion: .none, kind: .flag)
  }

  /// An option that `--name` turns on and `--no-name` turns off.
  ///
  /// The help shows the one that changes something: `--no-migrate` when it is on `initially`.
  public static func toggle(
    _ name: String, short: Character? = nil, initially: Bool, help: String
  ) -> Option {
    Option(
      name: name, short: short, help: help, isRepeatable: false, defaultText: nil,
      completion: .none, kind: .toggle(initially: initially))
  }

  /// An option with a value: `--limit N`.
  public static func value(
    _ name: String, short: Character? = nil, _ placeholder: String, repeatable: Bool = false,
    default defaultText: String? = nil, completion: ValueCompletion = .none, help: String
  ) -> Option {
    Option(
      name: name, short: short, help: help, isRepeatable: repeatable, defaultText: defaultText,
      completion: completion, kind: .value(placeholder: placeholder))
  }

  /// An option that stands alone or has a value: `--exec-batch`, `--exec-batch COMMAND`.
  ///
  /// The word after it is its value unless it begins with a dash, so it is for commands that take
  /// neither arguments nor subcommands.
  public static func optionalValue(
    _ name: String, _ placeholder: String, completion: ValueCompletion = .none, help: String
  ) -> Option {
    Option(
      name: name, short: nil, help: help, isRepeatable: false, defaultText: nil,
      completion: completion, kind: .optionalValue(placeholder: placeholder))
  }

  /// The same option, which a configuration file cannot give.
  public func onCommandLineOnly() -> Option {
    var option = self
    option.isConfigurable = false
    return option
  }

  /// `--log-format`, which ``Diagnostics`` obeys.
  public static let logFormat = Option.value(
    "log-format", "FORMAT", default: "text",
    completion: .words(Diagnostics.Format.allCases.map(\.rawValue)),
    help: "messages as text for people, or as json: one object a line")
  /// `--quiet`, which ``Diagnostics`` obeys.
  public static let quiet = Option.flag(
    "quiet", short: "q", help: "print warnings and errors only")
  /// `--verbose`, which ``Diagnostics`` obeys.
  public static let verbose = Option.flag(
    "verbose", short: "v", help: "print what is being done in more detail")

  static let helpRequest = Option.flag("help", short: "h", help: "show this help")
    .onCommandLineOnly()
  static let versionRequest = Option.flag("version", help: "show the version").onCommandLineOnly()

  /// The value's placeholder, or nil when the option takes none.
  var placeholder: String? {
    switch kind {
    case .value(let placeholder), .optionalValue(let placeholder): placeholder
    case .flag, .toggle: nil
    }
  }

  /// Whether it may also stand without its value.
  var valueIsOptional: Bool {
    if case .optionalValue = kind { return true }
    return false
  }

  /// The placeholder as it follows the name in the help.
  var shownPlaceholder: String? {
    placeholder.map { valueIsOptional ? "[\($0)]" : $0 }
  }

  /// Every long name the parser accepts, each with the switch position it stands for.
  var spellings: [(name: String, isOn: Bool)] {
    if case .toggle = kind { return [(name, true), ("no-" + name, false)] }
    return [(name, true)]
  }

  /// The long spelling for help and completions, with its dashes.
  var shownName: String {
    if case .toggle(initially: true) = kind { return "--no-" + name }
    return "--" + name
  }

  /// The help phrase with what the table knows besides.
  var fullHelp: String {
    var text = help
    if isRepeatable, placeholder != nil { text += "; may be given more than once" }
    if let defaultText { text += " (default: \(defaultText))" }
    return text
  }
}
