import CommandLine
import QuakeModel
import QuakeQuery
import QuakeTool

struct AssociationOutput {
  let isJSON: Bool
  private let output = StandardOutput()

  init(isJSON: Bool) { self.isJSON = isJSON }

  /// Prints what was done, and after a trial what the earthquakes would be.
  func write(
    _ outcome: AssociationOutcome, _ earthquakes: [AssociatedEarthquake]? = nil
  ) throws {
    let would = earthquakes == nil ? "" : "would have "
    try output.write(
      [outcome], isJSON: isJSON, members: Self.members(of:to:),
      text: { _ in
        "\(would)compared \(Readable.count(outcome.compared, "event")), "
          + "associated \(outcome.associated), released \(outcome.released)\n"
      })
    if let earthquakes { try write(earthquakes) }
  }

  func write(_ earthquakes: [AssociatedEarthquake]) throws {
    try output.write(
      earthquakes, isJSON: isJSON, members: Self.members(of:to:), text: Self.table(of:))
  }

  func show(_ earthquake: AssociatedEarthquake) throws {
    try output.write(
      [earthquake], isJSON: isJSON, members: Self.members(of:to:),
      text: { _ in Self.events(of: earthquake) })
  }

  func write(_ preferences: [SourcePreference]) throws {
    try output.write(
      preferences, isJSON: isJSON, members: Self.members(of:to:),
      text: { $0.map(Self.line(of:)).joined() })
  }

  func write(_ settings: AssociationSettings) throws {
    try output.write(
      [settings], isJSON: isJSON, members: Self.members(of:to:),
      text: { _ in Self.lines(of: settings) })
  }

  // MARK: - Text

  private static func table(of earthquakes: [AssociatedEarthquake]) -> String {
    guard !earthquakes.isEmpty else { return "" }
    var table = TextTable([
      .text("time"), .number("magnitude"), .text("place"), .text("preferred"), .text("others"),
    ])
    for earthquake in earthquakes {
      let first = earthquake.preferred
      table.add([
        .init(first.time.text), .init(first.magnitude.map { Readable.shortest($0) } ?? ""),
        .init(first.place ?? ""), .init("\(first.source) \(first.code)"),
        .init(earthquake.others.map { "\($0.source) \($0.code)" }.joined(separator: ", ")),
      ])
    }
    return table.render()
  }

  private static func events(of earthquake: AssociatedEarthquake) -> String {
    var table = TextTable([
      .text("event"), .text("source"), .text("time"), .number("seconds"), .number("km"),
      .number("magnitude"), .text("type"), .text("place"), .text(""),
    ])
    for (place, solution) in ([earthquake.preferred] + earthquake.others).enumerated() {
      table.add([
        .init(solution.code), .init(solution.source), .init(solution.time.text),
        .init(place == 0 ? "" : Readable.decimal(solution.seconds, places: 2)),
        .init(place == 0 ? "" : Readable.decimal(solution.kilometres, places: 1)),
        .init(solution.magnitude.map { Readable.shortest($0) } ?? ""),
        .init(solution.magnitudeType ?? ""), .init(solution.place ?? ""),
        .init(
          [place == 0 ? "preferred" : nil, solution.isByHand ? "joined by hand" : nil]
            .compactMap { $0 }.joined(separator: ", ")),
      ])
    }
    return table.render()
  }

  private static func line(of preference: SourcePreference) -> String {
    let box = preference.edges.map { Readable.shortest($0) }.joined(separator: ",")
    return PrintableText.line(
      "\(preference.isGeneral ? "everywhere" : box): \(preference.sources.joined(separator: ","))"
    ) + "\n"
  }

  private static func lines(of settings: AssociationSettings) -> String {
    """
    associations are \(settings.isEnabled ? "enabled" : "not enabled")
    time       \(Readable.shortest(settings.timeWindow)) s
    distance   \(Readable.shortest(settings.distanceWindow)) km
    magnitude  \(Readable.shortest(settings.magnitudeWindow))
    loose      \(Readable.shortest(settings.looseFactor))

    """
  }

  // MARK: - JSON

  private static func members(of outcome: AssociationOutcome, to json: inout JSONWriter) {
    json.member("compared", outcome.compared)
    json.member("associated", outcome.associated)
    json.member("released", outcome.released)
  }

  private static func members(of earthquake: AssociatedEarthquake, to json: inout JSONWriter) {
    json.member("preferred", earthquake.preferred.code)
    json.array("events") { json in
      for solution in [earthquake.preferred] + earthquake.others {
        json.object { members(of: solution, to: &$0) }
      }
    }
  }

  private static func members(of solution: AssociatedEarthquake.Solution, to json: inout JSONWriter)
  {
    json.member("code", solution.code)
    json.member("source", solution.source)
    json.member("time", solution.time)
    json.member("magnitude", solution.magnitude)
    json.member("magnitude_type", solution.magnitudeType)
    json.member("place", solution.place)
    json.member("seconds", solution.seconds)
    json.member("kilometres", solution.kilometres)
    json.member("magnitudes", solution.magnitudes)
    json.member("by_hand", solution.isByHand)
  }

  private static func members(of preference: SourcePreference, to json: inout JSONWriter) {
    json.key("box")
    if preference.isGeneral {
      json.null()
    } else {
      json.array { json in for edge in preference.edges { json.double(edge) } }
    }
    json.member("sources", preference.sources)
  }

  private static func members(of settings: AssociationSettings, to json: inout JSONWriter) {
    json.member("enabled", settings.isEnabled)
    json.member("time", settings.timeWindow)
    json.member("distance", settings.distanceWindow)
    json.member("magnitude", settings.magnitudeWindow)
    json.member("loose", settings.looseFactor)
  }
}

extension SourcePreference {
  /// The edges of the region in the order of `--box`.
  fileprivate var edges: [Double] { [region.west, region.south, region.east, region.north] }
}
