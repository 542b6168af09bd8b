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
  public init(
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
