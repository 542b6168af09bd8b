public import QuakeModel

extension FeedReference {
  /// The scope of the feed, if it is one of USGS's summary feeds. The name is also recognised within that of
  /// a URL or a file (`usgs_all_day_2026-08-15T0040Z.csv`). Nil for other feeds.
  public var scope: FeedScope? { Self.scope(of: name) }

  /// The scope of a feed of that name; nil if it is unknown.
  public static func scope(of name: String) -> FeedScope? {
    summaryName(in: name).flatMap(scope(ofSummary:))
  }

  /// The name of the summary feed that a file or a URL is named after; nil if there is none in it.
  public static func summaryName(in name: String) -> String? {
    knownNames.first { known in
      var rest = Substring(name)
      while let found = rest.firstRange(of: known) {
        let before =
          found.lowerBound == name.startIndex ? nil : name[name.index(before: found.lowerBound)]
        let after = found.upperBound == name.endIndex ? nil : name[found.upperBound]
        if !isWordCharacter(before), !isWordCharacter(after) { return true }
        rest = name[found.upperBound...]
      }
      return false
    }
  }

  private static func isWordCharacter(_ character: Character?) -> Bool {
    character.map { $0.isLetter || $0.isNumber } ?? false
  }

  private static func scope(ofSummary name: String) -> FeedScope? {
    let parts = name.split(separator: "_")
    let windows: [Substring: Int64] = [
      "hour": 3600, "day": 86_400, "week": 7 * 86_400, "month": 30 * 86_400,
    ]
    guard parts.count == 2, let window = windows[parts[1]] else { return nil }
    // The names are rounded: feed 2.5 begins at magnitude 2.45, as in USGS's own service.
    let threshold = Double(parts[0]).map { $0 - 0.05 }
    return FeedScope(
      name: name, source: "usgs", window: window, minimumMagnitude: threshold,
      isSelective: parts[0] == "significant")
  }
}
