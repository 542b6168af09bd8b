import Basics
import CommandLine
import QuakeFeed
import QuakeModel

/// A feed that `run` polls, as an option or a section of the configuration file names it.
struct NamedFeed {
  /// The option's value as written, or the name of the section.
  let text: String
  /// The name that the user gave it; nil: that of its address.
  let name: String?
  /// The feed that the value names, with its secrets.
  let feed: SecretText
  /// The interval; nil if the value has none.
  let every: Duration?
  /// What a section says of it beside that.
  var settings = FeedSettings()
  /// File, line and key of its address; nil if the command line names it.
  var place: String?
}

/// What a section of the configuration file says of a feed beside its name, address and interval.
struct FeedSettings {
  /// The data centre of its events; nil: the feed or its URL tells.
  var centre: DataCentre?
  /// Where its epicentres are expected; nil: anywhere.
  var region: EventFilter.BoundingBox?
  /// The longest time in which its server may send nothing; nil: as for all feeds.
  var timeout: Duration?
  /// The longest time of a download; nil: as for all feeds.
  var downloadTimeout: Duration?

  /// The options of its downloads; nil: those of all feeds.
  func clientOptions(_ common: FeedClient.Options) -> FeedClient.Options? {
    guard timeout != nil || downloadTimeout != nil else { return nil }
    var options = common
    if let timeout { options.setStallTimeout(timeout) }
    if let downloadTimeout {
      options.downloadTimeoutMilliseconds = Int(downloadTimeout.pollTimeout)
    }
    return options
  }
}

extension FeedClient.Options {
  /// Sets the longest time in which a server may send nothing, which is also the longest time of connecting.
  mutating func setStallTimeout(_ timeout: Duration) {
    stallTimeoutMilliseconds = Int(timeout.pollTimeout)
    connectTimeoutMilliseconds = min(connectTimeoutMilliseconds, stallTimeoutMilliseconds)
  }
}

/// The parts of a value of `--feed`: `NAME=FEED@DURATION`, of which the feed alone is necessary.
struct FeedText {
  /// The name; nil: the value has none.
  let name: String?
  /// The feed, as `FeedReference` reads it.
  let feed: String
  /// The interval; nil: the value has none.
  let every: Duration?

  /// The longest name in bytes: it must fit into the name of a section.
  private static let longestName = 40
  /// The form of a name, for messages.
  static let form = """
    a letter or digit, followed by up to \(longestName - 1) letters, digits, hyphens and underscores, all in lower case
    """

  /// Splits a value. An equals sign in a URL or after a slash belongs to the feed.
  init(_ text: String) {
    let timed = TimedValue(text)
    every = timed.duration
    let equals = timed.value.firstIndex(of: "=")
    let prefix = equals.map { timed.value[..<$0] } ?? ""
    guard let equals, !prefix.contains(where: { ":/?${.".contains($0) }) else {
      name = nil
      feed = timed.value
      return
    }
    name = String(prefix)
    feed = String(timed.value[timed.value.index(after: equals)...])
  }

  /// Whether a text may be the name of a feed.
  static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= longestName else { return false }
    func isWord(_ byte: UInt8) -> Bool {
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
    }
    return isWord(first) && text.utf8.allSatisfy { isWord($0) || $0 == 0x2D || $0 == 0x5F }
  }
}

/// The parameters with which the service of a section selects events, from its URL and its keys. They must leave some.
struct FeedConditions {
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
