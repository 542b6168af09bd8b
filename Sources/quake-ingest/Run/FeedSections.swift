import CommandLine
import QuakeFeed
import QuakeModel

/// The sections `[feed NAME]` of a configuration file, each of which is a feed to poll.
struct FeedSections {
  /// The keys of a section, other than the filters.
  private static let keys = [
    "url", "interval", "source", "region", "timeout", "download-timeout",
  ]
  /// The parameters of FDSN event services that select events. As keys they become a part of the URL.
  private static let filters = [
    "minmagnitude", "maxmagnitude", "magnitudetype", "mindepth", "maxdepth", "minlatitude",
    "maxlatitude", "minlongitude", "maxlongitude", "latitude", "longitude", "minradius",
    "maxradius", "eventtype", "catalog", "contributor", "limit", "orderby",
  ]
  /// Those that are numbers, with their limits.
  private static let numbers: [String: ClosedRange<Double>?] = [
    "minmagnitude": nil, "maxmagnitude": nil, "mindepth": nil, "maxdepth": nil,
    "minlatitude": -90...90, "maxlatitude": -90...90, "latitude": -90...90,
    "minlongitude": -360...360, "maxlongitude": -360...360, "longitude": -360...360,
    "minradius": 0...180, "maxradius": 0...180,
  ]

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) {
    self.arguments = arguments
  }

  /// The feeds of the sections, in their order.
  ///
  /// - Throws: `UsageError` with file and line of the first invalid entry.
  func feeds() throws(UsageError) -> [NamedFeed] {
    var names: [String] = []
    var entries: [String: [Setting]] = [:]
    for setting in arguments.sections {
      let name = try name(ofSectionWith: setting)
      if entries[name] == nil { names.append(name) }
      guard !(entries[name, default: []].contains { $0.key == setting.key }) else {
        throw fault(setting, "key '\(setting.key)' is given more than once for feed \"\(name)\"")
      }
      entries[name, default: []].append(setting)
    }
    var feeds: [NamedFeed] = []
    for name in names { feeds.append(try feed(name, entries[name] ?? [])) }
    return feeds
  }

  private func name(ofSectionWith setting: Setting) throws(UsageError) -> String {
    let words = (setting.section ?? "").split(separator: " ").map(String.init)
    guard words.count == 2, words[0] == "feed" else {
      throw fault(
        setting, "unknown section [\(setting.section ?? "")]: expected [feed NAME]")
    }
    guard FeedText.isName(words[1]) else {
      throw fault(
        setting, "invalid name of a feed in [\(setting.section ?? "")]: expected \(FeedText.form)")
    }
    return words[1]
  }

  private func feed(_ name: String, _ entries: [Setting]) throws(UsageError) -> NamedFeed {
    guard let address = entries.first(where: { $0.key == "url" }) else {
      throw fault(entries[0], "section [feed \(name)] has no key 'url'")
    }
    let isSimulated = address.value == RunCommand.simulated
    guard isSimulated == (name == RunCommand.simulated) else {
      throw fault(address, RunCommand.nameOfSimulated)
    }
    var settings = FeedSettings()
    var every: Duration?
    var query: [String] = []
    for entry in entries {
      switch entry.key {
      case "url": continue
      case "interval": every = try duration(entry, atMost: nil)
      case "source": settings.centre = try centre(entry)
      case "region": settings.region = try region(entry)
      case "timeout": settings.timeout = try duration(entry, atMost: .seconds(86_400))
      case "download-timeout":
        settings.downloadTimeout = try duration(entry, atMost: .seconds(7 * 86_400))
      default: query.append(try filter(entry, address))
      }
    }
    try checkLimits(entries)
    let template = try appending(query, to: address)
    if FeedURL.holdsSecret(template) { ProcessArguments.hide(template) }
    let place = "\(address.place): key 'url'"
    return NamedFeed(
      text: name, name: isSimulated ? nil : name,
      feed: try SecretText(template, in: place, of: arguments.title),
      every: every, settings: settings, place: place)
  }

  /// Longitudes are left out: services disagree about a western edge that is east of the eastern one.
  private func checkLimits(_ entries: [Setting]) throws(UsageError) {
    for name in ["magnitude", "depth", "latitude", "radius"] {
      guard let least = entries.first(where: { $0.key == "min\(name)" }),
        let most = entries.first(where: { $0.key == "max\(name)" }),
        let low = Double(least.value), let high = Double(most.value), low > high
      else { continue }
      throw fault(
        least.line > most.line ? least : most,
        "no event matches \(least.key)=\(least.value) and \(most.key)=\(most.value)")
    }
  }

  private func filter(
    _ entry: Setting, _ address: Setting
  ) throws(UsageError) -> String {
    guard Self.filters.contains(entry.key) else {
      let known = Self.keys + Self.filters
      throw arguments.usageError(
        "\(entry.place): unknown key '\(entry.key)': expected one of \(known.joined(separator: ", "))",
        suggestion: Suggestion.nearest(to: entry.key, among: known))
    }
    let value = entry.value.replacingSpaces()
    let isPlain = value.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0 & 0xDF) || "._:,-*%".utf8.contains($0)
    }
    guard isPlain, !value.isEmpty else {
      throw invalid(entry, "letters, digits, spaces and .,:-_*")
    }
    // The short names of the standard, such as minmag and lat, are beginnings of the others, of three letters at least.
    let parameters = address.value.split { "?&#".contains($0) }.dropFirst()
      .map { $0.prefix { $0 != "=" } }
    guard !parameters.contains(where: { $0.count >= 3 && entry.key.hasPrefix($0) }) else {
      throw fault(address, "the URL has the parameter \(entry.key) already")
    }
    if let limits = Self.numbers[entry.key] {
      let number = Double(value).flatMap { $0.isFinite ? $0 : nil }
      guard let number, limits?.contains(number) ?? true else {
        throw invalid(
          entry,
          limits.map { "a number from \(Int($0.lowerBound)) to \(Int($0.upperBound))" }
            ?? "a number")
      }
    }
    return "\(entry.key)=\(value)"
  }

  private func appending(
    _ query: [String], to address: Setting
  ) throws(UsageError) -> String {
    guard !query.isEmpty else { return address.value }
    guard address.value.contains("://") || address.value.hasPrefix("${") else {
      throw fault(address, "a feed with filters must have the URL of an event service")
    }
    return address.value + (address.value.contains("?") ? "&" : "?")
      + query.joined(separator: "&")
  }

  private func duration(_ entry: Setting, atMost limit: Duration?) throws(UsageError) -> Duration {
    guard let duration = Duration(text: entry.value), duration >= .milliseconds(1),
      limit.map({ duration <= $0 }) ?? true
    else { throw invalid(entry, "a duration such as 60s or 5m, at least 1ms") }
    return duration
  }

  private func centre(_ entry: Setting) throws(UsageError) -> DataCentre {
    guard let centre = DataCentre(name: entry.value) else {
      throw invalid(entry, "up to 64 lower-case letters, digits, dots, hyphens or underscores")
    }
    return centre
  }

  private func region(_ entry: Setting) throws(UsageError) -> EventFilter.BoundingBox {
    let edges = entry.value.split(separator: ",", omittingEmptySubsequences: false)
      .compactMap { Double(String($0)) }
    guard edges.count == 4,
      entry.value.split(separator: ",", omittingEmptySubsequences: false).count == 4,
      let box = EventFilter.BoundingBox(
        west: edges[0], south: edges[1], east: edges[2], north: edges[3]),
      box.south < box.north, box.west != box.east
    else {
      throw invalid(
        entry,
        """
        west,south,east,north in degrees, with north above south; west may lie east of east, which is a region over \
        the 180th meridian
        """)
    }
    return box
  }

  private func invalid(_ entry: Setting, _ expected: String) -> UsageError {
    fault(entry, "invalid value '\(entry.value)' for key '\(entry.key)': expected \(expected)")
  }

  private func fault(_ entry: Setting, _ message: String) -> UsageError {
    arguments.usageError("\(entry.place): \(message)")
  }
}

extension String {
  /// The text with each space written as in a URL.
  fileprivate func replacingSpaces() -> String {
    split(separator: " ", omittingEmptySubsequences: false).joined(separator: "%20")
  }
}
