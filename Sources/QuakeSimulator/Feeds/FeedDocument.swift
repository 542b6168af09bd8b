import QuakeModel

/// The formats in which the catalogue is served.
enum SimulatedFormat: String, Sendable {
  /// A GeoJSON FeatureCollection with USGS's properties.
  case geojson
  /// FDSN's text, in answers to queries only.
  case text

  var contentType: String {
    switch self {
    case .geojson: "application/json; charset=utf-8"
    case .text: "text/plain; charset=utf-8"
    }
  }
}

struct FeedDocument {
  struct Metadata {
    /// When the document was made: milliseconds since 1970.
    var generated: Int64
    var url: String
    var title: String
  }

  var metadata: Metadata

  /// The document with `events`, in their order.
  func render(_ events: [SimulatedEvent], _ format: SimulatedFormat) -> [UInt8] {
    switch format {
    case .geojson: geoJSON(events)
    case .text: text(events)
    }
  }

  private func text(_ events: [SimulatedEvent]) -> [UInt8] {
    var output = Array(FeatureEncoder.textHeader.utf8)
    output.reserveCapacity(160 * (events.count + 1))
    for event in events { FeatureEncoder.appendTextRow(event, to: &output) }
    return output
  }

  private func geoJSON(_ events: [SimulatedEvent]) -> [UInt8] {
    var encoder = FeatureEncoder()
    var output: [UInt8] = []
    output.reserveCapacity(900 * (events.count + 1))
    Self.appendHead(metadata, count: events.count, to: &output)
    for (index, event) in events.enumerated() {
      if index > 0 { output += [0x2C, 0x0A] }
      encoder.appendFeature(event, to: &output)
    }
    output += [0x5D, 0x7D]
    return output
  }

  static func appendHead(_ metadata: Metadata, count: Int, to output: inout [UInt8]) {
    output.append(contentsOf: #"{"type":"FeatureCollection","metadata":"#.utf8)
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("generated", metadata.generated)
      writer.member("url", metadata.url)
      writer.member("title", metadata.title)
      writer.member("status", 200)
      writer.member("api", "1.14.1")
      writer.member("count", count)
    }
    output.append(contentsOf: writer.bytes)
    output.append(contentsOf: #","features":["#.utf8)
  }
}

extension SummaryFeed.Window {
  var milliseconds: Int64 { seconds * 1000 }
}

extension SummaryFeed {
  private func admits(_ event: SimulatedEvent) -> Bool {
    if let least = threshold.significance, event.significance < least { return false }
    if let least = threshold.magnitude, (event.magnitude ?? -.infinity) < least { return false }
    return true
  }

  /// The feed's events at the instant `now` (milliseconds), the latest first.
  ///
  /// `events` is in the order of time.
  func select(from events: [SimulatedEvent], now: Int64) -> [SimulatedEvent] {
    var selected: [SimulatedEvent] = []
    let start = now - window.milliseconds
    for event in events.reversed() {
      guard event.time >= start, selected.count < Self.maximumCount else { break }
      if event.time <= now, admits(event) { selected.append(event) }
    }
    return selected
  }
}
