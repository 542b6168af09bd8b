extension ParsedArguments {
  /// Reads the entries of a section of a configuration file as options, so that both obey the same rules.
  ///
  /// - Parameters:
  ///   - command: The command that reads the file.
  ///   - options: The keys of such a section.
  /// - Throws: `UsageError` with file, line and key of the first invalid entry.
  package init(
    sectionOf command: String, options: [Option], settings: [Setting]
  ) throws(UsageError) {
    let empty = ParsedArguments(
      path: [command], positionals: [], options: options, declaredPositionals: [],
      occurrences: [:], notation: .section)
    self = try empty.completed(by: settings)
  }

  /// The same occurrences as those of other options.
  ///
  /// - Parameter names: The names here of options that have other names there.
  package func read(as others: [Option], names: [String: String] = [:]) -> ParsedArguments {
    var other = ParsedArguments(
      path: path, positionals: [], options: others, declaredPositionals: [], occurrences: [:],
      notation: notation)
    for option in others {
      other.occurrences[option.name] = occurrences[names[option.name] ?? option.name]
    }
    return other
  }
}
