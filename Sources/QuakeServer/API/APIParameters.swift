import CommandLine
import QuakeModel
import QuakeTool

/// The parameters of the API: options of the tools, read by the same code.
enum APIParameters {
  static func read(_ request: Request, _ options: [Option]) throws(UsageError) -> ParsedArguments {
    try ParsedArguments(
      url: request.path, options: options,
      parameters: request.query.map { (name: $0.name, value: $0.value) })
  }

  /// Whether the answer to a request depends on the time at which it arrives. Any parameter may be a time: to take a text
  /// for one costs a new answer, to overlook one gives an old answer.
  static func dependOnNow(_ request: Request) -> Bool {
    request.query.contains { $0.name == "last" || TimeText.isRelative($0.value) }
  }

  /// The description of options as parameters.
  ///
  /// - Parameter limit: The greatest `limit`, if it is not the default.
  static func describe(_ options: [Option], limit: Int? = nil) -> [Operation.Parameter] {
    options.filter { !hidden.contains($0.name) }.map { option in
      var schema = schema(of: option)
      if let limit, option.name == "limit" { schema = .integer(from: 1, to: limit) }
      return Operation.Parameter(
        option.name, schema, summary(of: option), example: example(of: option))
    }
  }

  /// Parameters that are not described, because clients get them only in links of the server.
  private static let hidden: Set<String> = ["page"]

  /// Texts of options that speak of command lines, in words for URLs.
  private static let summaries = [
    "all": "the same as superseded and withdrawn",
    "bin": "width of the classes of by=magnitude",
    "columns": "columns to return as properties",
    "last": "events of this duration before the request, such as 7d",
    "since": "the same as after, for a time",
    "until": "the same as up-to, for a time",
  ]

  private static func summary(of option: Option) -> String {
    let text = summaries[option.name] ?? option.help
    return option.defaultText.map { "\(text); by default \($0)" } ?? text
  }

  // MARK: - Schemas

  private static func schema(of option: Option) -> Operation.Schema {
    guard let placeholder = option.placeholder else { return .boolean }
    if case .words(let words) = option.completion {
      return placeholder.hasSuffix(",...") ? .words(words) : .choice(words)
    }
    switch placeholder {
    case "M" where isChange(option.name), "KM" where isChange(option.name):
      return .number(0...Double.greatestFiniteMagnitude)
    case "M", "KM": return .number()
    case "M|METHOD": return .string(pattern: completeness)
    case "WIDTH": return .number(0.01...10)
    case "N": return .integer(from: option.name == "felt" ? 0 : 1, to: limits(of: option))
    case "TIME": return .string(pattern: "^\(moment)$")
    case "TOKEN": return .string(pattern: "^\(token)$")
    case "TOKEN|NUMBER|TIME": return .string(pattern: "^(\(token)|[0-9]{1,18}|oldest|\(moment))$")
    case "DURATION": return .string(pattern: duration(option.name))
    case "HH:MM-HH:MM": return .string(pattern: "^\(hour)-\(hour)$")
    case "ZONE": return .string(pattern: "^UTC$|^[A-Za-z_]+/[A-Za-z_/+-]+$")
    case "quieter": return .choice(["quieter"])
    case "SECONDS": return .number(0...ChangeStreamParameters.longestWait)
    case "CURSOR", "CURSOR|NUMBER|TIME": return .string()
    case "W,S,E,N": return .numbers([-180...180, -90...90, -180...180, -90...90])
    case "KM:LAT,LON": return .string(pattern: circle)
    case "COLUMN[:asc|:desc],...":
      let columns = EventColumn.allCases.map(\.name).joined(separator: "|")
      return .texts(pattern: "^(-(\(columns))|(\(columns))(:asc|:desc)?)$")
    case "OP,...": return .words(ChangeOperation.allCases.map(\.rawValue))
    case "COLUMN,...": return .words(EventColumn.allCases.map(\.name))
    default:
      if placeholder.hasSuffix(",...") { return .texts(pattern: "^[^,\(control)]+$") }
      let pattern = option.name == "place" ? "^[^\(control)]+$" : "^[^\(control)]*$"
      return option.isRepeatable ? .repeated(pattern: pattern) : .string(pattern: pattern)
    }
  }

  /// Whether an option is how much a value has to change.
  private static func isChange(_ name: String) -> Bool {
    name == "hysteresis" || name.hasSuffix("-change") || name.hasSuffix("-step")
  }

  private static func limits(of option: Option) -> Int {
    option.defaultText.flatMap { Int($0) } ?? Int.max
  }

  /// The characters that the server refuses in addresses.
  static let control = #"\u0000-\u001f\u007f"#
  private static let completeness =
    #"^(maximum-curvature|b-stability|-?[0-9](\.[0-9]{1,6})?|1[01](\.[0-9]{1,6})?|12)$"#
  private static let hour = "([01][0-9]|2[0-3]):[0-5][0-9]"
  private static let token = #"(0|[1-9][0-9]{0,17}\.[0-9a-f]{8})"#
  private static let circle =
    #"^[0-9]{1,5}(\.[0-9]{1,6})?:-?([0-8]?[0-9](\.[0-9]{1,9})?|90),-?((1[0-7][0-9]|[0-9]{1,2})(\.[0-9]{1,9})?|180)$"#

  private static let fraction = #"(\.[0-9]{1,4})"#
  /// A number from 0.001 to 0.9999.
  private static let small = #"0\.([1-9][0-9]{0,3}|0[1-9][0-9]{0,2}|00[1-9][0-9]?)"#

  private static func duration(_ name: String) -> String {
    if name == "timeout" { return "^([1-9][0-9]{0,3}ms|([1-9]|[1-5][0-9]|60)s|1m)$" }
    // An age has a unit, see `ParsedArguments.age`.
    let unit = ["last", "newer-than"].contains(name) ? "(s|m|h)" : "(s|m|h)?"
    return "^([1-9][0-9]{0,5}\(fraction)?ms|(\(small)|[1-9][0-9]{0,5}\(fraction)?)\(unit)"
      + "|(\(small)|[1-9][0-9]{0,4}\(fraction)?)d)$"
  }

  /// The pattern of a date of the years 1000 to 9999, with or without a time of day.
  static let time: String = {
    let year = "[1-9][0-9]{3}"
    let leapYear =
      "([1-9][0-9](0[48]|[2468][048]|[13579][26])|([2468][048]|[13579][26])00)"
    let day =
      "(\(year)-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)"
      + "|(0[13578]|1[02])-31)|\(leapYear)-02-29)"
    let clock = #"T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"#
    return "\(day)(\(clock)(Z|[+-](0[0-9]|1[0-5]):[0-5][0-9])?)?"
  }()

  /// A time as `TimeText` reads it: also a day by its name, or an age.
  private static let moment =
    "(\(time)|now|(today|yesterday)( ([01][0-9]|2[0-3]):[0-5][0-9])?|[1-9][0-9]{0,3} ?(ms|s|m|h|d|w)( ago)?)"

  // MARK: - Examples

  private static func example(of option: Option) -> String? {
    option.placeholder == "TIME" ? "2026-01-31" : examples[option.name]
  }

  private static let examples = [
    "after": "0", "as-of": "2026-11-20T12:00:00Z", "as-of-feed": "2026-11-20T12:00:00Z",
    "bbox": "-125,32,-114,42", "by": "region",
    "changed": "magnitude,place", "columns": "code,magnitude,place,time",
    "completeness": "2.5", "dry-run": "true", "from": "0", "last": "7d", "limit": "10",
    "max-depth": "70",
    "max-lag": "30s", "max-magnitude": "6", "min-depth": "0", "min-magnitude": "4.5",
    "network": "us", "of": "depth", "place": "Hawaii", "sort": "magnitude:desc",
    "status": "reviewed",
    "timeout": "10s", "type": "earthquake", "up-to": "2026-12-31",
    "within": "300:35.7,139.7",
  ]
}
