import QuakeFormat
import QuakeModel

/// The name of a feed in an address: `all_day`, and for KML also `all_day_depth_animated_link`.
struct ServedFeedName {
  let feed: SummaryFeed
  var drawing = ServiceForm.Drawing()
  /// Whether the document only refers to the feed, so that a viewer loads it again and again.
  var isLink = false

  /// Reads a name; nil if there is no such feed.
  init?(_ text: String, format: ServedFeedFormat) {
    let parts = text.split(separator: "_", omittingEmptySubsequences: false).map(String.init)
    guard parts.count >= 2, let feed = SummaryFeed(name: parts[0] + "_" + parts[1]) else {
      return nil
    }
    self.feed = feed
    var options = parts[2...]
    guard options.isEmpty || format == .kml else { return nil }
    if let first = options.first {
      guard let colour = ServiceForm.Drawing.Colour(rawValue: first) else { return nil }
      drawing.colour = colour
      options.removeFirst()
    }
    for option in options {
      switch option {
      case "animated" where !drawing.isAnimated && !isLink: drawing.isAnimated = true
      case "link" where !isLink: isLink = true
      default: return nil
      }
    }
  }
}
