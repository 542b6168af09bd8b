public import CommandLine
public import QuakeModel
internal import QuakeOptions
public import QuakeQuery

/// The options of statistics: what to group by, and what to summarise.
public struct StatisticsOptions: Sendable {
  /// The key to group by.
  public static let by = Option.value(
    "by", "KEY", completion: .words(keys), help: "group by \(keys.joined(separator: ", "))")
  /// The column to summarise.
  public static let of = Option.value(
    "of", "COLUMN", default: "magnitude",
    completion: .words(EventQuery.numericColumns.map(\.name)),
    help: "average, minimum and maximum of this column")
  /// The width of classes of the magnitude, and the magnitude of completeness.
  public static let classes: [Option] = [
    .value("bin", "WIDTH", default: "1", help: "width of the classes of --by magnitude"),
    .value(
      "completeness", "M",
      help: "magnitude of completeness for the b-value, instead of the estimated one"),
  ]
  /// The number of groups.
  public static let limit = Option.limit(help: "at most N groups")

  private static let keys = [
    "place", "region", "network", "type", "status", "day", "hour", "month", "magnitude",
  ]

  /// The key to group by; nil: all events are one group.
  public let key: EventKey?
  /// The column to summarise.
  public let column: QuakeColumn
  /// The magnitude of completeness; nil: estimated.
  public let completeness: Double?
  /// The greatest number of groups; nil: all.
  public let limit: Int64?

  /// Reads the options.
  ///
  /// - Parameter groupOptions: Further options that need `--by`.
  public init(
    _ arguments: ParsedArguments, groupOptions: [String] = []
  ) throws(UsageError) {
    try arguments.requireAtMostOne(of: "by", "completeness")
    limit = try arguments.integer("limit", in: 1...).map { Int64($0) }
    key = try Self.key(arguments)
    for option in groupOptions + ["limit"] where key == nil && arguments.isGiven(option) {
      throw Self.missing("by", neededBy: option, arguments)
    }
    let name = try arguments.choice("of", of: EventQuery.numericColumns.map(\.name))
    column = name.flatMap { QuakeColumn(name: $0) } ?? .magnitude
    completeness = try arguments.double("completeness", in: -10...12)
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
      return .magnitude(classWidth: try arguments.double("bin", in: 0.01...10) ?? 1)
    default: return nil
    }
  }
}
