import CommandLine
import QuakeModel

/// The parameters with which the service of a section selects events, from its URL and its keys. They must leave some.
struct FeedConditions {
  /// The numbers, with their limits.
  private static let numbers: [String: ClosedRange<Double>?] = [
    "minmagnitude": nil, "maxmagnitude": nil, "mindepth": nil, "maxdepth": nil,
    "minlatitude": -90...90, "maxlatitude": -90...90, "latitude": -90...90,
    "minlongitude": -360...360, "maxlongitude": -360...360, "longitude": -360...360,
    "minradius": 0...180, "maxradius": 0...180,
  ]
  /// Longitudes are not among them: services disagree about a western edge that is east of the eastern one.
  private static let pairs = [
    ("minmagnitude", "maxmagnitude"), ("mindepth", "maxdepth"), ("minlatitude", "maxlatitude"),
    ("minradius", "maxradius"),
  ]
  /// The short names that the standard has as well.
  private static let shortNames = [
    "minmag": "minmagnitude", "maxmag": "maxmagnitude", "magtype": "magnitudetype",
    "minlat": "minlatitude", "maxlat": "maxlatitude", "lat": "latitude",
    "minlon": "minlongitude", "maxlon": "maxlongitude", "lon": "longitude",
    "start": "starttime", "end": "endtime",
  ]

  private var values: [String: (text: String, entry: Setting)] = [:]

  /// The conditions in the URL of a section.
  init(ofURL address: Setting) {
    let query = address.value.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" }
    for parameter in query.split(separator: "&") {
      let name = String(parameter.prefix { $0 != "=" })
      let value = parameter.dropFirst(name.count + 1)
      values[Self.shortNames[name] ?? name] = (
        String(value.replacing("%3A", with: ":")), address
      )
    }
  }

  /// Whether a parameter is among them.
  func has(_ name: String) -> Bool { values[name] != nil }

  /// Adds that of a key.
  ///
  /// - Returns: The form that its value must have; nil: it has it.
  mutating func add(_ entry: Setting) -> String? {
    values[entry.key] = (entry.value, entry)
    guard let limits = Self.numbers[entry.key] else { return nil }
    let number = number(entry.key)
    guard let limits else { return number == nil ? "a number" : nil }
    return number.map(limits.contains) == true
      ? nil : "a number from \(Int(limits.lowerBound)) to \(Int(limits.upperBound))"
  }

  /// Two of them that no event meets, with the later entry; nil: there are none.
  var contradiction: (entry: Setting, text: String)? {
    for (least, most) in Self.pairs {
      if let low = number(least), let high = number(most), low > high {
        return contradiction(between: least, most)
      }
    }
    if let start = time("starttime"), let end = time("endtime"), start > end {
      return contradiction(between: "starttime", "endtime")
    }
    return nil
  }

  private func contradiction(
    between least: String, _ most: String
  ) -> (entry: Setting, text: String)? {
    guard let low = values[least], let high = values[most] else { return nil }
    return (
      low.entry.line > high.entry.line ? low.entry : high.entry,
      "no event matches \(least)=\(low.text) and \(most)=\(high.text)"
    )
  }

  private func number(_ name: String) -> Double? {
    values[name].flatMap { Double($0.text) }.flatMap { $0.isFinite ? $0 : nil }
  }

  private func time(_ name: String) -> Timestamp? {
    values[name].flatMap { Timestamp(iso8601: $0.text) }
  }
}
