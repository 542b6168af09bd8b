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

/// Builds a whole document from events.
struct FeedDocument {
  /// The metadata of a document.
  struct Metadata {
    /// When the document was made: milliseconds since 1970.
    var generated: Int64
    var url: String
    var title: String
    /// In answers to queries: how many events at most, or nil.
    var limit: Int?
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
    var bounds = Bounds()
    for (index, event) in events.enumerated() {
      if index > 0 { output += [0x2C, 0x0A] }
      encoder.appendFeature(event, to: &output)
      bounds.add(event)
    }
    output.append(0x5D)
    bounds.append(to: &output)
    output.append(0x7D)
    return output
  }

  /// Everything before the first feature.
  static func appendHead(_ metadata: Metadata, count: Int, to output: inout [UInt8]) {
    output.append(contentsOf: #"{"type":"FeatureCollection","metadata":"#.utf8)
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("generated", metadata.generated)
      writer.member("url", metadata.url)
      writer.member("title", metadata.title)
      writer.member("status", 200)
      writer.member("api", "1.14.1")
      if let limit = metadata.limit {
        writer.member("limit", limit)
      }
      writer.member("count", count)
    }
    output.append(contentsOf: writer.bytes)
    output.append(contentsOf: #","features":["#.utf8)
  }

  /// The box around all events, which is left out where it would be a point or nothing.
  struct Bounds {
    private var low = (Double.infinity, Double.infinity, Double.infinity)
    private var high = (-Double.infinity, -Double.infinity, -Double.infinity)

    mutating func add(_ event: SimulatedEvent) {
      low = (min(low.0, event.longitude), min(low.1, event.latitude), low.2)
      high = (max(high.0, event.longitude), max(high.1, event.latitude), high.2)
      guard let depth = event.depth else { return }
      low.2 = min(low.2, depth)
      high.2 = max(high.2, depth)
    }

    func append(to output: inout [UInt8]) {
      guard low.0 < high.0 || low.1 < high.1, low.2.isFinite else { return }
      var writer = JSONWriter()
      writer.array { writer in
        for value in [low.0, low.1, low.2, high.0, high.1, high.2] { writer.double(value) }
      }
      output.append(contentsOf: #","bbox":"#.utf8)
      output.append(contentsOf: writer.bytes)
    }
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
