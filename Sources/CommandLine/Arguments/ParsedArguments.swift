/// The result of parsing a command line.
public enum ParsedCommandLine: Sendable {
  /// Run the command.
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
public struct ParsedArguments: Sendable {
  /// One use of an option on the command line, or in a configuration file.
  struct Occurrence: Sendable {
    var value: String?
    var isOn: Bool
    var setting: Setting?
  }

  /// How a user writes options.
  enum Notation: Sendable {
    /// `--limit 10`.
    case commandLine
    /// `limit=10` in the query of a URL.
    case url
  }

  /// The chosen command's name and those above it, outermost first: `["quake-admin", "server",
  /// "start"]`.
  public let path: [String]
  /// The arguments that are not options, in order; all arguments if the command passes them to another
  /// program.
  public let positionals: [String]
  let options: [Option]
  let declaredPositionals: [Positional]
  var occurrences: [String: [Occurrence]]
  /// How messages name the options.
  var notation = Notation.commandLine

  /// The names of the chosen subcommands: `["server", "start"]`.
  public var subcommand: [String] { Array(path.dropFirst()) }

  /// The command as typed: `quake-admin server start`.
  public var title: String { path.joined(separator: " ") }

  /// Whether the command has this option.
  public func takes(_ name: String) -> Bool { options.contains { $0.name == name } }

  /// Whether a flag is given; for a toggle, whether it is on.
  public func flag(_ name: String) -> Bool {
    let option = declared(name)
    if let last = occurrences[name]?.last { return last.isOn }
    if case .toggle(let initially) = option.kind { return initially ?? false }
    return false
  }

  /// How often an option is given.
  public func count(_ name: String) -> Int {
    _ = declared(name)
    return occurrences[name]?.count ?? 0
  }

  /// Whether an option is given at all.
  public func isGiven(_ name: String) -> Bool { count(name) > 0 }

  /// Whether an option is given by the user, not only by a file of settings.
  public func isTyped(_ name: String) -> Bool {
    _ = declared(name)
    return occurrences[name]?.contains { $0.setting == nil } ?? false
  }

  /// The option's value as it was typed, or nil when the option is not given.
  public func string(_ name: String) -> String? { strings(name).last }

  /// All values of a repeatable option, in order.
  public func strings(_ name: String) -> [String] {
    _ = declared(name)
    return occurrences[name]?.compactMap(\.value) ?? []
  }

  /// The value of the argument declared with this name, or nil if it is omitted.
  public func positional(_ name: String) -> String? {
    guard let index = declaredPositionals.firstIndex(where: { $0.name == name }) else {
      preconditionFailure("argument \(name) is not declared by \(title)")
    }
    return index < positionals.count ? positionals[index] : nil
  }

  /// An option as its user writes it: `--limit`, or `limit` in a URL.
  public func spelled(_ name: String) -> String {
    switch notation {
    case .commandLine: "--" + name
    case .url: name
    }
  }

  /// An option at the beginning of a message: `--limit`, or `parameter limit` in a URL.
  public func subject(_ name: String) -> String {
    switch notation {
    case .commandLine: "--" + name
    case .url: "parameter " + name
    }
  }

  /// The word for one option: `option`, or `parameter` in a URL.
  public var noun: String {
    switch notation {
    case .commandLine: "option"
    case .url: "parameter"
    }
  }

  /// An error in the use of this command, for rules that the program checks itself.
  public func usageError(_ message: String, suggestion: String? = nil) -> UsageError {
    UsageError(message, suggestion: suggestion, command: title)
  }

  /// An error about options that are valid by themselves but not together.
  public func contradiction(_ message: String) -> UsageError {
    var error = usageError(message)
    error.isContradiction = true
    return error
  }

  /// An error about an option's value: `invalid value '…' for option --name: expected …`.
  public func invalidValue(
    _ value: String, for name: String, expected: String, suggestion: String? = nil
  ) -> UsageError {
    let place = place(of: value, for: name).map { "\($0): " } ?? ""
    let what = place.isEmpty ? "\(noun) \(spelled(name))" : "key '\(name)'"
    return usageError(
      "\(place)invalid value '\(value)' for \(what): expected \(expected)", suggestion: suggestion)
  }

  /// The file and line that give the option this value, such as `quake-ingest.conf:7`; nil if the command
  /// line does.
  public func place(of value: String, for name: String) -> String? {
    occurrences[name]?.last { $0.value == value }?.setting?.place
  }

  /// Throws a `UsageError` if more than one of these options is given.
  public func requireAtMostOne(of names: String...) throws(UsageError) {
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
