package import CommandLine
package import QuakeModel
package import QuakeQuery

/// The options of statistics: what to group by, and what to summarise.
package struct StatisticsOptions: Sendable {
  package static let by = Option.value(
    "by", "KEY", completion: .words(keys), help: "group by \(keys.joined(separator: ", "))")
  package static let of = Option.value(
    "of", "COLUMN", default: "magnitude",
    completion: .words(EventQuery.numericColumns.map(\.name)),
    help: "average, minimum and maximum of this column")
  /// The width of classes of the magnitude, and the magnitude of completeness.
  package static let classes: [Option] = [
    .value("bin", "WIDTH", default: "0.1", help: "width of the classes of --by magnitude"),
    .value(
      "completeness", "M|METHOD", default: BValue.Completeness.methods[0],
      completion: .found(or: BValue.Completeness.methods),
      help: "magnitude of completeness for the b-value, or how to find it: "
        + BValue.Completeness.methods.joined(separator: " or ")),
  ]
  package static let limit = Option.limit(help: "at most N groups")

  private static let keys = [
    "place", "region", "network", "type", "status", "day", "hour", "month", "magnitude",
  ]

  /// The key to group by; nil: all events are one group.
  package let key: EventKey?
  /// The column to summarise.
  package let column: EventColumn
  package let completeness: BValue.Completeness
  /// Whether events of every type count, and not only earthquakes.
  package let everyType: Bool
  /// The greatest number of groups; nil: all.
  package let limit: Int64?

  /// Reads the options.
  ///
  /// - Parameter groupOptions: Further options that need `--by`.
  package init(
    _ arguments: ParsedArguments, groupOptions: [String] = []
  ) throws(UsageError) {
    try arguments.requireAtMostOne(of: "by", "completeness")
    limit = try arguments.integer("limit", in: 1...).map { Int64($0) }
    key = try Self.key(arguments)
    for option in groupOptions + ["limit"] where key == nil && arguments.isGiven(option) {
      throw Self.missing("by", neededBy: option, arguments)
    }
    let name = try arguments.choice("of", of: EventQuery.numericColumns.map(\.name))
    column = name.flatMap { EventColumn(name: $0) } ?? .magnitude
    completeness = try Self.completeness(arguments)
    everyType = try FilterOptions.namesEveryType(arguments)
  }

  private static func completeness(
    _ arguments: ParsedArguments
  ) throws(UsageError) -> BValue.Completeness {
    guard let text = arguments.string("completeness") else { return .maximumCurvature }
    if let method = BValue.Completeness(method: text) { return method }
    guard let magnitude = Double(text), (-10...12).contains(magnitude) else {
      throw arguments.invalidValue(
        text, for: "completeness",
        expected:
          "a number from -10 to 12, \(BValue.Completeness.methods.joined(separator: " or "))",
        suggestion: Suggestion.nearest(to: text, among: BValue.Completeness.methods))
    }
    return .magnitude(magnitude)
  }

  /// Why there is no b-value, and what to do, in a sentence without a full stop; nil: there is one, or no event
  /// has a magnitude.
  package static func reason(_ value: BValue?, _ arguments: ParsedArguments) -> String? {
    let article = arguments.noun == "parameter" ? "the parameter " : ""
    // Those of one network may depend on the cutoff, too.
    let select =
      arguments.isGiven("network")
      ? "select" : "select one network with \(article)\(arguments.spelled("network")), or"
    let completeness = article + arguments.spelled("completeness")
    func magnitude(_ value: Double?) -> String {
      "M " + (value.map { Readable.decimal($0) } ?? "?")
    }
    switch value?.refusal {
    case nil: return nil
    case .fewEvents:
      return """
        fewer than \(BValue.fewestEvents) events of this magnitude and above: select more events, or \
        another magnitude with \(completeness)
        """
    case .oneClass:
      return "all events of this magnitude and above are of one magnitude: select more events"
    case .noStableCutoff:
      return """
        there is no magnitude from which b is stable: \(select) a magnitude with \(completeness)
        """
    case .dependsOnCutoff(let b, let from, let other, let steady):
      return """
        b depends on the magnitude of completeness, \(Readable.decimal(b, places: 2)) from \
        \(magnitude(value?.completeness)) but \(Readable.decimal(other, places: 2)) from \
        \(magnitude(from)): \(select) a greater magnitude with \(completeness)\
        \(steady.map { ", such as \(Readable.decimal($0))" } ?? "")
        """
    }
  }

  private static func missing(
    _ words: String, neededBy option: String, _ arguments: ParsedArguments
  ) -> UsageError {
    arguments.contradiction(
      "\(arguments.noun) \(arguments.spelled(option)) needs \(arguments.spelled(words))")
  }

  private static func key(_ arguments: ParsedArguments) throws(UsageError) -> EventKey? {
    let key = try arguments.choice("by", of: keys)
    guard key == "magnitude" || !arguments.isGiven("bin") else {
      throw missing("by magnitude", neededBy: "bin", arguments)
    }
    switch key {
    case "place": return .place
    case "region": return .region
    case "network": return .network
    case "type": return .type
    case "status": return .status
    case "day": return .day
    case "hour": return .hour
    case "month": return .month
    case "magnitude":
      return .magnitude(classWidth: try arguments.double("bin", in: 0.01...10) ?? 0.1)
    default: return nil
    }
  }
}
