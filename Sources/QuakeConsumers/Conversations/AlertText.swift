internal import Basics
internal import QuakeModel

extension Alert {
  /// One sentence in plain English that says what the message tells and what was told before, on one line. It is not
  /// cut.
  public var text: String {
    let text =
      switch kind {
      case .retracted: "Retracted: \(Self.earthquake(told)): \(reason)"
      case .closed:
        "Closed: \(Self.earthquake(present)): \(isAfterRetraction ? "it stays retracted" : "nothing more is told")"
      case .updated where isAfterRetraction: "Valid again: \(update)"
      case .updated: update
      case .opened, .change: Self.earthquake(present)
      }
    return Self.line(text)
  }

  /// The earthquake as the store shows it; as it was told if the store does not have it any more.
  package var present: Told? {
    // A conversation that goes on elsewhere ends with what it has told.
    if mergedInto != nil, let told { return told }
    return event.map { Told($0) } ?? told
  }

  private static func earthquake(_ told: Told?) -> String {
    guard let told else { return "an earthquake" }
    var parts = ["\(magnitude(told.magnitude)), \(place(told))"]
    if let depth = told.depth { parts.append("depth \(number(depth)) km") }
    if let time = told.time { parts.append(Self.time(time)) }
    return parts.joined(separator: ", ") + " (\(told.code))"
  }

  private var update: String {
    guard let present, let told else { return Self.earthquake(present) }
    var text = Self.magnitude(present.magnitude, told.magnitude)
    text += was(\.magnitude, present, told) { Self.magnitude($0, $1) }
    text += ": " + Self.place(present)
    if let distance = Self.distance(present, told), distance >= 0.5 {
      text += ", moved by \(Self.number(distance.rounded())) km"
    } else if present.place != nil, present.latitude == nil, told.latitude != nil {
      text += ", epicentre unknown now"
    } else if present.latitude != nil, told.place != nil, told.latitude == nil {
      text += ", epicentre known now"
    } else if Self.place(present) != Self.place(told) {
      text += ", was \(Self.place(told))"
    }
    if let depth = present.depth {
      text +=
        ", depth \(Self.number(depth)) km"
        + was(\.depth, present, told) { value, _ in
          value.map { "\(Self.number($0)) km" } ?? "unknown"
        }
    } else if let depth = told.depth {
      text += ", depth unknown, was \(Self.number(depth)) km"
    }
    if let time = present.time { text += ", \(Self.time(time))" }
    text += " (\(present.code)"
    if EventCode(present.code) != EventCode(told.code) { text += ", was \(told.code)" }
    if present.agency != told.agency {
      text +=
        ", by \(present.agency ?? "an unknown agency"), was by \(told.agency ?? "an unknown agency")"
    }
    return text + ")"
  }

  /// `, was 6.2` if a value differs; empty if not.
  private func was(
    _ value: KeyPath<Told, Double?>, _ present: Told, _ told: Told,
    _ text: (_ value: Double?, _ other: Double?) -> String
  ) -> String {
    guard present[keyPath: value] != told[keyPath: value] else { return "" }
    var old = text(told[keyPath: value], present[keyPath: value])
    if old.hasPrefix("M ") { old.removeFirst(2) }
    return ", was \(old)"
  }

  /// Why what was told is not so any more.
  private var reason: String {
    if mergedInto != nil {
      let goesOn = "of which the messages go on"
      // Often the older conversation goes on with the event of this one.
      guard let event, event.code.map({ EventCode($0) }) != told.map({ EventCode($0.code) }) else {
        return "it is the same as an earthquake that was told before, \(goesOn)"
      }
      return "it is the same as \(Self.earthquake(Told(event))), \(goesOn)"
    }
    guard let event else { return "it was deleted" }
    if event.has(.withdrawnAt) { return "it was withdrawn" }
    if let successor = event.supersededBy { return "it was replaced by \(successor)" }
    // Which of the conditions it does not meet is not known here: say what may be the reason.
    var facts: [String] = []
    if let told, told.magnitude != event.magnitude {
      facts.append("\(Self.magnitude(event.magnitude, told.magnitude)) now")
    }
    if let type = event.type, type != "earthquake" { facts.append("of the type \(type)") }
    guard !facts.isEmpty else { return "it does not meet the conditions any more" }
    return "it is \(facts.joined(separator: ", ")), and does not meet the conditions"
  }

  // MARK: - Values

  private static func place(_ told: Told) -> String {
    if let place = told.place { return place }
    guard let latitude = told.latitude, let longitude = told.longitude else {
      return "epicentre unknown"
    }
    return "\(degrees(latitude, "N", "S")) \(degrees(longitude, "E", "W"))"
  }

  private static func degrees(_ value: Double, _ positive: String, _ negative: String) -> String {
    "\((value.magnitude * 100).rounded() / 100)°\(value < 0 ? negative : positive)"
  }

  /// `M 6.2`. With more decimals if it would look as another magnitude that it differs from.
  private static func magnitude(_ magnitude: Double?, _ other: Double? = nil) -> String {
    guard let magnitude else { return "M unknown" }
    let rounded = tenths(magnitude)
    guard let other, other != magnitude, tenths(other) == rounded else { return "M \(rounded)" }
    return "M \(magnitude)"
  }

  private static func tenths(_ value: Double) -> String {
    "\(((value * 10).rounded() + 0) / 10)"
  }

  /// A number with at most one decimal.
  private static func number(_ value: Double) -> String {
    let text = tenths(value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private static func time(_ time: Timestamp) -> String {
    let text = time.description
    return text.prefix(10) + " " + text.dropFirst(11).prefix(8) + " UTC"
  }

  private static func distance(_ told: Told, _ other: Told) -> Double? {
    guard let latitude = told.latitude, let longitude = told.longitude,
      let toLatitude = other.latitude, let toLongitude = other.longitude
    else { return nil }
    return GreatCircle.distance(
      latitude: latitude, longitude: longitude, toLatitude: toLatitude, longitude: toLongitude)
  }

  /// The text on one line, without characters that could control a terminal.
  static func line(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { HiddenCharacter.includes($0.value) }) else {
      return text
    }
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x09...0x0D, 0x85, 0x2028...0x2029: line.append(" ")
      default: line.append(HiddenCharacter.includes(scalar.value) ? "\u{FFFD}" : scalar)
      }
    }
    return String(line)
  }
}
