/// One entry of a configuration file: the long name of an option, and its value.
package struct Setting: Sendable, Equatable {
  /// The section that it is in; nil: it is above the first one.
  package let section: String?
  /// The name, without dashes.
  package let key: String
  package let value: String
  package let file: String
  /// The line, from 1.
  package let line: Int

  package init(
    _ key: String, _ value: String, section: String? = nil, file: String, line: Int
  ) {
    self.section = section
    self.key = key
    self.value = value
    self.file = file
    self.line = line
  }

  /// File and line, for messages: `quake-ingest.conf:7`.
  package var place: String { "\(file):\(line)" }

  /// The value for an option without a value, or nil if the word is not one.
  static func isOn(_ word: String) -> Bool? {
    switch word.lowercased() {
    case "yes", "true", "on": true
    case "no", "false", "off": false
    default: nil
    }
  }
}

extension ParsedArguments {
  /// The command line with the settings of a configuration file added.
  ///
  /// The keys are the names of options, so that a file can give nearly all options. The command line has
  /// precedence, also for repeatable options. The value for an option without a value is `yes` or `no`.
  ///
  /// - Throws: `UsageError` with file, line and key of the first invalid entry.
  package func completed(by settings: [Setting]) throws(UsageError) -> ParsedArguments {
    var completed = self
    var first: [String: Setting] = [:]
    for setting in settings {
      let (option, isOn) = try configurable(setting)
      if let earlier = first[option.name], !option.isRepeatable {
        throw usageError(
          "\(setting.place): key '\(setting.key)' is given more than once, first in line"
            + " \(earlier.line)")
      }
      first[option.name] = first[option.name] ?? setting
      guard let use = try occurrence(of: option, isOn: isOn, setting), !isDecided(option)
      else { continue }
      completed.occurrences[option.name, default: []].append(use)
    }
    return completed
  }

  /// Whether the command line overrides the file. `--quiet` and `--verbose` override each other.
  private func isDecided(_ option: Option) -> Bool {
    let verbosity = [Option.quiet, .verbose]
    guard verbosity.contains(option) else { return occurrences[option.name] != nil }
    return verbosity.contains { occurrences[$0.name] != nil }
  }

  private func configurable(_ setting: Setting) throws(UsageError) -> (Option, isOn: Bool) {
    let known = options.filter(\.isConfigurable)
    for option in known {
      guard let spelling = option.spellings.first(where: { $0.name == setting.key })
      else { continue }
      return (option, spelling.isOn)
    }
    guard !options.contains(where: { $0.name == setting.key }) else {
      throw usageError(
        "\(setting.place): key '\(setting.key)' cannot be in a file: expected on the command"
          + " line only")
    }
    throw usageError(
      "\(setting.place): unknown key '\(setting.key)': expected "
        + (notation == .section ? "one of this section" : "the long name of an option"),
      suggestion: Suggestion.option(setting.key, among: known.flatMap(\.spellings).map(\.name)))
  }

  /// The entry as an occurrence of the option; nil for a flag that is off.
  private func occurrence(
    of option: Option, isOn: Bool, _ setting: Setting
  ) throws(UsageError) -> Occurrence? {
    switch option.kind {
    case .value: return Occurrence(value: setting.value, isOn: true, setting: setting)
    case .optionalValue:
      let value = setting.value.isEmpty ? nil : setting.value
      return Occurrence(value: value, isOn: true, setting: setting)
    case .flag, .toggle:
      guard let word = Setting.isOn(setting.value) else {
        throw usageError(
          "\(setting.place): invalid value '\(setting.value)' for key '\(setting.key)': expected"
            + " yes or no")
      }
      if option.kind == .flag, !word { return nil }
      return Occurrence(value: nil, isOn: word == isOn, setting: setting)
    }
  }
}
