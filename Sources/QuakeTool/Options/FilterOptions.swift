internal import Basics
package import CommandLine
package import QuakeModel

/// The options that select events and changes, and the filter made from them.
package enum FilterOptions {
  package static let events: [Option] =
    [
      .value("code", "CODE,...", repeatable: true, help: "events with these codes"),
      .value(
        "from", "TIME",
        help: "events at or after this time, such as 2026-01-31 (in UTC), yesterday or 2 h ago"),
      .value("to", "TIME", help: "events before this time"),
      .value(
        "last", "DURATION",
        help: "events of the last DURATION, such as 7d"),
      .value("min-magnitude", "M", help: "events of at least this magnitude"),
      .value("max-magnitude", "M", help: "events of at most this magnitude"),
      .value("min-depth", "KM", help: "hypocentres at least KM kilometres deep"),
      .value("max-depth", "KM", help: "hypocentres at most KM kilometres deep"),
      .value(
        "place", "TEXT", repeatable: true,
        help: "events whose place contains TEXT, ignoring case"),
      .value(
        "type", "TYPE,...", repeatable: true,
        completion: .usually(
          EventTypes.usual + [everyType], anySpelling: true, synonyms: EventTypes.synonyms.map(\.0)),
        help:
          "events of these types, such as earthquake, in any spelling; \(everyType): of every type"),
      .value("network", "NET,...", repeatable: true, help: "events of these networks, such as us"),
      .value(
        "source", "SOURCE,...", repeatable: true, completion: .usually(sources),
        help: "events of these catalogues, such as usgs"),
      .value(
        "alert", "LEVEL,...", repeatable: true, completion: .words(alertLevels),
        help: "events with these PAGER alert levels"),
      .value("felt", "N", help: "events with at least N felt reports"),
      .value(
        "status", "STATUS,...", repeatable: true, completion: .usually(statuses, anySpelling: true),
        help: "events of these statuses, such as reviewed, ignoring case"),
    ] + regions

  /// Options that select events by their epicentre.
  package static let regions: [Option] = [
    .value("bbox", "W,S,E,N", help: "epicentres between these degrees; W may lie east of E"),
    .value("within", "KM:LAT,LON", help: "epicentres at most KM kilometres from a place"),
  ]

  /// PAGER's levels.
  private static let alertLevels = ["green", "yellow", "orange", "red", "pending"]
  /// Catalogues whose names Quake knows, and what it calls their statuses.
  private static let sources = ["usgs", "emsc", "ingv", "geonet", "gfz", "isc"]
  private static let statuses = ["automatic", "reviewed", "deleted"]

  /// Options that select changes by their kind, author or session.
  package static let changes: [Option] = [
    .value(
      "op", "OP,...", repeatable: true,
      completion: .words(ChangeOperation.allCases.map(\.rawValue)),
      help: "only insert, update, delete, truncate"),
    .value("author", "AUTHOR", repeatable: true, help: "changes by this author"),
    .value("not-author", "AUTHOR", repeatable: true, help: "changes not by this author"),
    .value("context", "CONTEXT", repeatable: true, help: "changes in this context"),
    .value(
      "application", "NAME", repeatable: true,
      help: "changes by sessions with this application_name"),
    .value(
      "changed", "COLUMN,...", repeatable: true,
      completion: .words(EventColumn.allCases.map(\.name)),
      help: "updates of at least one of these columns, such as magnitude,place"),
    .value(
      "newer-than", "DURATION",
      help: "events at most this old at the time of the change, such as 1h"),
    .flag(
      "enters",
      help: """
        events that enter the selection of the options above: new ones, and those that a revision, or \
        the end of a withdrawal, brings in
        """),
    .flag(
      "leaves",
      help: """
        events that leave the selection: deleted, withdrawn, superseded, or revised so that they no longer \
        meet it
        """),
    .value(
      "magnitude-change", "M",
      help: "updates that change the magnitude by at least M, or from or to unknown"),
    .value(
      "depth-change", "KM",
      help: "updates that change the depth by at least KM kilometres, or from or to unknown"),
    .value(
      "place-change", "KM",
      help: "updates that move the epicentre by at least KM kilometres, or from or to unknown"),
  ]

  /// The filter that the arguments describe.
  ///
  /// - Parameter withChanges: Whether the command also has the options of `changes`.
  package static func filter(
    _ arguments: ParsedArguments, withChanges: Bool = true
  ) throws(UsageError) -> EventFilter {
    var filter = EventFilter()
    try add(eventOptionsOf: arguments, to: &filter)
    if withChanges { try add(changeOptionsOf: arguments, to: &filter) }
    return filter
  }

  private static func add(
    eventOptionsOf arguments: ParsedArguments, to filter: inout EventFilter
  ) throws(UsageError) {
    if arguments.isGiven("code") { filter.codes = Set(try arguments.list("code")) }
    (filter.minimumMagnitude, filter.maximumMagnitude) = try limits("magnitude", arguments)
    (filter.minimumDepth, filter.maximumDepth) = try limits("depth", arguments)
    try add(timeOptionsOf: arguments, to: &filter)
    if arguments.isGiven("place") {
      filter.places = arguments.strings("place")
      guard !arguments.strings("place").contains("") else {
        throw arguments.invalidValue("", for: "place", expected: "a part of a place's name")
      }
    }
    if arguments.isGiven("type") {
      let types = Set(try arguments.list("type"))
      if !types.contains(everyType) { filter.types = types }
    }
    if arguments.isGiven("network") { filter.networks = Set(try arguments.list("network")) }
    if arguments.isGiven("source") { filter.sources = Set(try arguments.list("source")) }
    if arguments.isGiven("alert") {
      filter.alerts = Set(try arguments.list("alert", of: alertLevels))
    }
    filter.minimumFelt = try arguments.integer("felt", in: 0...)
    if arguments.isGiven("status") { filter.statuses = Set(try arguments.list("status")) }
    try add(regionOptionsOf: arguments, to: &filter)
  }

  /// The filter that the options of `regions` describe.
  package static func region(_ arguments: ParsedArguments) throws(UsageError) -> EventFilter {
    var filter = EventFilter()
    try add(regionOptionsOf: arguments, to: &filter)
    return filter
  }

  /// The box that an option names; nil: it is not given.
  package static func box(
    _ option: String, _ arguments: ParsedArguments
  ) throws(UsageError) -> EventFilter.BoundingBox? {
    guard let edges = try arguments.doubles(option, count: 4) else { return nil }
    if let box = EventFilter.BoundingBox(
      west: edges[0], south: edges[1], east: edges[2], north: edges[3])
    {
      return box
    }
    var error = arguments.invalidValue(
      arguments.string(option) ?? "", for: option,
      expected: """
        west,south,east,north in degrees, south no further north than north; over the 180th \
        meridian, such as 170,-50,-170,-10, west is greater than east
        """)
    error.isContradiction =
      [edges[0], edges[2]].allSatisfy { (-180...180).contains($0) }
      && [edges[1], edges[3]].allSatisfy { (-90...90).contains($0) }
    throw error
  }

  private static func add(
    regionOptionsOf arguments: ParsedArguments, to filter: inout EventFilter
  ) throws(UsageError) {
    if let box = try box("bbox", arguments) { filter.boundingBox = box }
    if let text = arguments.string("within") {
      guard let circle = circle(text) else {
        throw arguments.invalidValue(
          text, for: "within", expected: "kilometres:latitude,longitude, such as 100:35.7,-117.5")
      }
      filter.circle = circle
    }
  }

  /// The value of `type` with which no event is left out because of its type.
  private static let everyType = "any"

  /// Whether the option `type` asks for events of every type.
  package static func namesEveryType(_ arguments: ParsedArguments) throws(UsageError) -> Bool {
    guard arguments.isGiven("type") else { return false }
    return try arguments.list("type").contains(everyType)
  }

  /// The values of `--min-NAME` and `--max-NAME`.
  private static func limits(
    _ name: String, _ arguments: ParsedArguments
  ) throws(UsageError) -> (Double?, Double?) {
    let (least, greatest) = (
      try arguments.double("min-" + name), try arguments.double("max-" + name)
    )
    if let least, let greatest, least > greatest {
      let (first, second) = (arguments.subject("min-" + name), arguments.spelled("max-" + name))
      throw arguments.contradiction("\(first) is greater than \(second): no event can pass")
    }
    return (least, greatest)
  }

  private static func add(
    timeOptionsOf arguments: ParsedArguments, to filter: inout EventFilter
  ) throws(UsageError) {
    try arguments.requireAtMostOne(of: "last", "from")
    try arguments.requireAtMostOne(of: "last", "to")
    filter.earliestTime = try arguments.time("from")
    filter.endTime = try arguments.time("to")
    if let from = filter.earliestTime, let to = filter.endTime, from >= to {
      let (first, second) = (arguments.subject("from"), arguments.spelled("to"))
      throw arguments.contradiction("\(first) is not before \(second): no event can pass")
    }
    if let last = try arguments.age("last", in: .milliseconds(1)...) {
      filter.earliestTime = Timestamp(
        microseconds: Timestamp.now().microseconds - last.wholeMicroseconds)
    }
  }

  private static func add(
    changeOptionsOf arguments: ParsedArguments, to filter: inout EventFilter
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
        try arguments.list("changed", of: EventColumn.allCases.map(\.name)))
    }
    filter.newerThan = try arguments.age("newer-than", in: .milliseconds(1)...)
    filter.changeConditions.enters = arguments.flag("enters")
    filter.changeConditions.leaves = arguments.flag("leaves")
    filter.changeConditions.magnitudeChange = try arguments.double("magnitude-change", in: 0...)
    filter.changeConditions.depthChange = try arguments.double("depth-change", in: 0...)
    filter.changeConditions.placeChange = try arguments.double("place-change", in: 0...)
  }

  private static func circle(_ text: String) -> EventFilter.Circle? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let radius = Double(parts[0]) else { return nil }
    let place = parts[1].split(separator: ",", omittingEmptySubsequences: false)
    guard place.count == 2, let latitude = Double(place[0]), let longitude = Double(place[1])
    else { return nil }
    return EventFilter.Circle(radius: radius, latitude: latitude, longitude: longitude)
  }
}
