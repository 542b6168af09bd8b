internal import Basics
package import CommandLine
package import QuakeConsumers
package import QuakeModel

/// The keys of a consumer that decide of what it tells.
package enum AlertKeys {
  /// All keys: which events or changes, and of consumers that tell of earthquakes, how.
  package static let options: [Option] =
    FilterOptions.events.filter { !["from", "to", "last", "alert"].contains($0.name) }
    + FilterOptions.changes + [
      .value(
        "pager-alert", "LEVEL,...", repeatable: true,
        help: "events with these PAGER alert levels"),
      .flag("alert", help: "tell of earthquakes, and not of changes"),
    ] + ofAlerts

  private static let ofAlerts: [Option] = [
    .value("magnitude-step", "M", default: "0.3", help: "tell again of such a change"),
    .value("depth-step", "KM", default: "20", help: "tell again of such a change"),
    .value("place-step", "KM", default: "50", help: "tell again of such a change"),
    .value(
      "hysteresis", "M", default: "0.2",
      help: "how far an earthquake falls below the least magnitude until it is retracted"),
    .value("settle", "DURATION", default: "0", help: "wait so long for an association"),
    .value("close-after", "DURATION", default: "7d", help: "tell no more after this time"),
    .flag("tell-closed", help: "also tell when this time is over"),
    .value("night", "HH:MM-HH:MM", help: "when it is night"),
    .value("night-min-magnitude", "M", help: "the least magnitude that is told at night"),
    .value("timezone", "ZONE", default: "UTC", help: "the zone of the night"),
    .value("aftershocks", "quieter", help: "tell only of strong aftershocks"),
    .flag("newest-only", help: "tell of no earthquake before one that was told"),
  ]

  /// Conditions on a change, which say nothing of an earthquake.
  private static let ofChanges = [
    "op", "author", "not-author", "context", "application", "changed", "enters", "leaves",
    "magnitude-change", "depth-change", "place-change",
  ]

  /// Conditions whose names mean something else in a section, or nothing.
  private static let filterNames = [
    "alert": "pager-alert", "from": "", "to": "", "last": "",
  ]

  /// Which changes or earthquakes a consumer wants.
  package static func filter(_ keys: ParsedArguments) throws -> (EventFilter, AlertRule?) {
    let filter = try FilterOptions.filter(
      keys.read(as: FilterOptions.events + FilterOptions.changes, names: Self.filterNames))
    guard keys.flag("alert") else {
      for option in ofAlerts where keys.isGiven(option.name) {
        throw keys.contradiction("\(keys.noun) '\(option.name)' is for consumers with alert = true")
      }
      return (filter, nil)
    }
    for name in ofChanges where keys.isGiven(name) {
      throw keys.contradiction(
        "\(keys.noun) '\(name)' is about changes, and a consumer with alert = true tells of earthquakes"
      )
    }
    var rule = AlertRule()
    rule.filter = filter
    if let step = try keys.double("magnitude-step", in: 0...) { rule.magnitudeStep = step }
    if let step = try keys.double("depth-step", in: 0...) { rule.depthStep = step }
    if let step = try keys.double("place-step", in: 0...) { rule.placeStep = step }
    if let hysteresis = try keys.double("hysteresis", in: 0...) { rule.hysteresis = hysteresis }
    if let settle = try keys.duration("settle", in: .zero ... .seconds(86_400)) {
      rule.settle = settle
    }
    if let time = try keys.duration("close-after", in: .seconds(60)...) { rule.closesAfter = time }
    rule.tellsClosed = keys.flag("tell-closed")
    rule.night = try night(keys)
    rule.quietsAftershocks = try keys.choice("aftershocks", of: ["quieter"]) != nil
    rule.isNewestOnly = keys.flag("newest-only")
    return (EventFilter(), rule)
  }

  private static func night(_ keys: ParsedArguments) throws -> AlertRule.Night? {
    let magnitude = try keys.double("night-min-magnitude")
    guard let text = keys.string("night") else {
      for name in ["night-min-magnitude", "timezone"] where keys.isGiven(name) {
        throw keys.contradiction("\(keys.noun) '\(name)' needs \(keys.noun) 'night'")
      }
      return nil
    }
    guard let magnitude else {
      throw keys.contradiction("\(keys.noun) 'night' needs \(keys.noun) 'night-min-magnitude'")
    }
    let name = keys.string("timezone") ?? "UTC"
    guard let zone = TimeZoneFile(named: name) else {
      throw keys.invalidValue(
        name, for: "timezone", expected: "a time zone of this machine, such as Europe/Athens")
    }
    guard let hours = NightHours(text, in: zone) else {
      throw keys.invalidValue(text, for: "night", expected: "two times of day, such as 22:00-07:00")
    }
    return AlertRule.Night(minimumMagnitude: magnitude, hours: hours)
  }
}
