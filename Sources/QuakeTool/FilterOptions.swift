public import CommandLine
public import QuakeModel

/// The options that select events and changes, and the filter made from them.
public enum FilterOptions {
  /// Options that select events.
  public static let events: [Option] = [
    .value("code", "CODE,...", repeatable: true, help: "events with these codes"),
    .value("min-magnitude", "M", help: "events of at least this magnitude"),
    .value(
      "type", "TYPE,...", repeatable: true, help: "events of these types, such as earthquake"),
    .value("bbox", "W,S,E,N", help: "epicentres between these degrees; W may lie east of E"),
    .value("within", "KM:LAT,LON", help: "epicentres at most KM kilometres from a place"),
  ]

  /// Options that select changes by their kind, author or session.
  public static let changes: [Option] = [
    .value("op", "OP,...", repeatable: true, help: "only insert, update, delete, truncate"),
    .value("author", "AUTHOR", repeatable: true, help: "changes by this author"),
    .value("not-author", "AUTHOR", repeatable: true, help: "changes not by this author"),
    .value("context", "CONTEXT", repeatable: true, help: "changes in this context"),
    .value(
      "application", "NAME", repeatable: true,
      help: "changes by sessions with this application_name"),
    .value(
      "changed", "COLUMN,...", repeatable: true,
      help: "updates of at least one of these columns, such as magnitude,place"),
  ]

  /// The filter that the arguments describe.
  ///
  /// - Parameter withChanges: Whether the command also has the options of `changes`.
  public static func filter(
    _ arguments: ParsedArguments, withChanges: Bool = true
  ) throws(UsageError) -> QuakeFilter {
    var filter = QuakeFilter()
    try add(eventOptionsOf: arguments, to: &filter)
    if withChanges { try add(changeOptionsOf: arguments, to: &filter) }
    return filter
  }

  private static func add(
    eventOptionsOf arguments: ParsedArguments, to filter: inout QuakeFilter
  ) throws(UsageError) {
    if arguments.isGiven("code") { filter.codes = Set(try arguments.list("code")) }
    filter.minimumMagnitude = try arguments.double("min-magnitude")
    if arguments.isGiven("type") { filter.types = Set(try arguments.list("type")) }
    if let edges = try arguments.doubles("bbox", count: 4) {
      guard
        let box = QuakeFilter.BoundingBox(
          west: edges[0], south: edges[1], east: edges[2], north: edges[3])
      else {
        throw arguments.invalidValue(
          arguments.string("bbox") ?? "", for: "bbox",
          expected: "west,south,east,north in degrees, south no further north than north")
      }
      filter.boundingBox = box
    }
    if let text = arguments.string("within") {
      guard let circle = circle(text) else {
        throw arguments.invalidValue(
          text, for: "within", expected: "kilometres:latitude,longitude, such as 100:35.7,-117.5")
      }
      filter.circle = circle
    }
  }

  private static func add(
    changeOptionsOf arguments: ParsedArguments, to filter: inout QuakeFilter
  ) throws(UsageError) {
    if arguments.isGiven("op") {
      let words = try arguments.list("op", of: ChangeOperation.allCases.map(\.rawValue))
      filter.operations = Set(words.compactMap { ChangeOperation(rawValue: $0) })
    }
    if arguments.isGiven("author") { filter.authors = Set(arguments.strings("author")) }
    filter.excludedAuthors = Set(arguments.strings("not-author"))
    if arguments.isGiven("context") { filter.contexts = Set(arguments.strings("context")) }
    if arguments.isGiven("application") {
      filter.applications = Set(arguments.strings("application"))
    }
    if arguments.isGiven("changed") {
      filter.changedColumns = Set(
        try arguments.list("changed", of: QuakeColumn.allCases.map(\.name)))
    }
  }

  private static func circle(_ text: String) -> QuakeFilter.Circle? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let radius = Double(parts[0]) else { return nil }
    let place = parts[1].split(separator: ",", omittingEmptySubsequences: false)
    guard place.count == 2, let latitude = Double(place[0]), let longitude = Double(place[1])
    else { return nil }
    return QuakeFilter.Circle(radius: radius, latitude: latitude, longitude: longitude)
  }
}
