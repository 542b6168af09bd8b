import QuakeModel

/// Writes single events as a GeoJSON feature, or as a row of FDSN text.
struct FeatureEncoder {
  private static let pageBase = Array("http://simulated.invalid/earthquakes/eventpage/".utf8)
  private static let detailBase = Array(
    "http://simulated.invalid/earthquakes/feed/v1.0/detail/".utf8)
  /// Whether all times are those of the incident of 7 October 2024, in 1970.
  private let hasGarbageTimes: Bool
  private var writer = JSONWriter()
  private var scratch: [UInt8] = []

  /// An encoder whose features link to a host that cannot exist: links with the address of the simulator
  /// would differ from run to run, and so would the events.
  init(hasGarbageTimes: Bool = false) {
    self.hasGarbageTimes = hasGarbageTimes
  }

  static let textHeader = """
    #EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|\
    Magnitude|MagAuthor|EventLocationName|EventType

    """

  // MARK: - GeoJSON

  /// Appends the event as a feature, without a comma or a line's end.
  mutating func appendFeature(_ event: SimulatedEvent, to output: inout [UInt8]) {
    // Moved out and back: the closures below need the scratch buffer while the writer is in use.
    var writer = JSONWriter()
    swap(&writer, &self.writer)
    var scratch: [UInt8] = []
    swap(&scratch, &self.scratch)
    writer.removeAll()
    writer.object { writer in
      writer.member("type", "Feature")
      writer.object("properties") { properties(event, &$0, &scratch) }
      writer.object("geometry") { writer in
        writer.member("type", "Point")
        writer.array("coordinates") { writer in
          writer.double(event.longitude)
          writer.double(event.latitude)
          writer.number(event.depth)
        }
      }
      writer.key("id")
      writer.text(&scratch) { $0.append(event.id) }
    }
    output.append(contentsOf: writer.bytes)
    swap(&writer, &self.writer)
    swap(&scratch, &self.scratch)
  }

  private func properties(
    _ event: SimulatedEvent, _ writer: inout JSONWriter, _ scratch: inout [UInt8]
  ) {
    writer.key("mag")
    writer.number(event.magnitude)
    writer.key("place")
    writer.text(&scratch) { $0.append(event.place) }
    writer.member("time", Int(milliseconds(event.time)))
    writer.member("updated", Int(milliseconds(event.updated)))
    writer.null("tz")
    writer.key("url")
    writer.text(&scratch) {
      $0.append(contentsOf: Self.pageBase)
      $0.append(event.id)
    }
    writer.key("detail")
    writer.text(&scratch) {
      $0.append(contentsOf: Self.detailBase)
      $0.append(event.id)
      $0.append(contentsOf: ".geojson".utf8)
    }
    writer.key("felt")
    writer.count(event.felt)
    writer.key("cdi")
    writer.number(event.cdi)
    writer.key("mmi")
    writer.number(event.mmi)
    writer.member("alert", event.alert?.rawValue)
    writer.member("status", event.status.rawValue)
    writer.member("tsunami", event.tsunami ? 1 : 0)
    writer.member("sig", event.significance)
    writer.member("net", event.id.network.rawValue)
    writer.member("code", event.id.code)
    writer.key("ids")
    writer.text(&scratch) { bytes in
      bytes.append(0x2C)
      for id in event.otherIDs {
        bytes.append(id)
        bytes.append(0x2C)
      }
      bytes.append(event.id)
      bytes.append(0x2C)
    }
    writer.key("sources")
    writer.text(&scratch) { appendSources(event, to: &$0) }
    writer.key("types")
    writer.text(&scratch) { appendTypes(event, to: &$0) }
    writer.key("nst")
    writer.count(event.stations)
    writer.key("dmin")
    writer.number(event.dmin)
    writer.key("rms")
    writer.number(event.rms)
    writer.key("gap")
    writer.number(event.gap)
    writer.member("magType", event.magnitudeType)
    writer.member("type", event.kind.rawValue)
    writer.key("title")
    writer.text(&scratch) { appendTitle(event, to: &$0) }
  }

  private func milliseconds(_ time: Int64) -> Int64 { hasGarbageTimes ? 2000 : time }

  private func appendTitle(_ event: SimulatedEvent, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: "M ".utf8)
    if let magnitude = event.magnitude {
      let tenths = Int((magnitude * 10).rounded())
      if tenths < 0 { bytes.append(0x2D) }
      bytes.append(decimal: Int(tenths.magnitude) / 10)
      bytes.append(0x2E)
      bytes.append(decimal: Int(tenths.magnitude) % 10)
    } else {
      bytes.append(0x3F)
    }
    if let words = event.kind.titleWords {
      bytes.append(0x20)
      bytes.append(contentsOf: words.utf8)
    }
    bytes.append(contentsOf: " - ".utf8)
    bytes.append(event.place)
  }

  private func appendSources(_ event: SimulatedEvent, to bytes: inout [UInt8]) {
    bytes.append(0x2C)
    for (index, id) in event.otherIDs.enumerated()
    where id.network != event.id.network
      && !event.otherIDs[..<index].contains(where: { $0.network == id.network })
    {
      bytes.append(contentsOf: id.network.rawValue.utf8)
      bytes.append(0x2C)
    }
    bytes.append(contentsOf: event.id.network.rawValue.utf8)
    bytes.append(0x2C)
  }

  private func appendTypes(_ event: SimulatedEvent, to bytes: inout [UInt8]) {
    bytes.append(0x2C)
    if event.felt != nil { bytes.append(contentsOf: "dyfi,".utf8) }
    if event.tsunami { bytes.append(contentsOf: "impact-link,".utf8) }
    if event.alert != nil { bytes.append(contentsOf: "losspager,".utf8) }
    if event.magnitudeType == "mww" { bytes.append(contentsOf: "moment-tensor,".utf8) }
    let californian = event.id.network == .nc || event.id.network == .ci
    if californian { bytes.append(contentsOf: "nearby-cities,".utf8) }
    bytes.append(contentsOf: "origin,phase-data,".utf8)
    if californian { bytes.append(contentsOf: "scitech-link,".utf8) }
    if event.mmi != nil { bytes.append(contentsOf: "shakemap,".utf8) }
  }

  // MARK: - FDSN text

  /// Appends the event as a row of FDSN text with its line's end.
  mutating func appendTextRow(_ event: SimulatedEvent, to output: inout [UInt8]) {
    let network = event.id.network.rawValue.utf8
    output.append(event.id)
    output.append(0x7C)
    Timestamp(microseconds: milliseconds(event.time) * 1000).append(to: &output)
    if output.last == UInt8(ascii: "Z") { output.removeLast() }  // services leave it out
    for number in [event.latitude, event.longitude, event.depth] {
      output.append(0x7C)
      output.append(number: number)
    }
    // Author, Catalog, Contributor, ContributorID
    output.append(0x7C)
    output.append(contentsOf: network)
    output.append(contentsOf: "|simulated|".utf8)
    output.append(contentsOf: network)
    output.append(0x7C)
    output.append(contentsOf: event.id.code.utf8)
    output.append(0x7C)
    output.append(contentsOf: (event.magnitudeType ?? "").utf8)
    output.append(0x7C)
    output.append(number: event.magnitude)
    output.append(0x7C)
    if event.magnitude != nil { output.append(contentsOf: network) }
    output.append(0x7C)
    output.append(event.place)
    output.append(0x7C)
    output.append(contentsOf: event.kind.rawValue.utf8)
    output.append(0x0A)
  }
}

extension JSONWriter {
  fileprivate mutating func number(_ value: Double?) {
    if let value { double(value) } else { null() }
  }

  fileprivate mutating func count(_ value: Int?) {
    if let value { integer(value) } else { null() }
  }

  /// Writes a string that `body` puts together in the scratch buffer.
  fileprivate mutating func text(_ scratch: inout [UInt8], _ body: (inout [UInt8]) -> Void) {
    scratch.removeAll(keepingCapacity: true)
    body(&scratch)
    scratch.withUnsafeBytes { string(utf8: $0) }
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ id: EventIdentifier) {
    append(contentsOf: id.network.rawValue.utf8)
    append(contentsOf: id.code.utf8)
  }

  /// The place begins with a word that no reader of a list, a title or an alert can overlook.
  fileprivate mutating func append(_ place: Place) {
    append(contentsOf: "Simulated: ".utf8)
    append(decimal: place.distance)
    append(contentsOf: " km ".utf8)
    Place.directions[place.direction].withUTF8Buffer { append(contentsOf: $0) }
    append(contentsOf: " of ".utf8)
    append(contentsOf: SeismicRegion.all[place.region].towns[place.town].name.utf8)
    if place.trailingSpace { append(0x20) }
  }

  /// Appends an integer that is not negative.
  fileprivate mutating func append(decimal value: Int) {
    let start = count
    var rest = value
    repeat {
      append(0x30 + UInt8(rest % 10))
      rest /= 10
    } while rest > 0
    self[start...].reverse()
  }

  /// Appends a number as JSON has it, or nothing.
  fileprivate mutating func append(number value: Double?) {
    guard let value else { return }
    if let whole = Int(exactly: value) {
      append(contentsOf: whole.description.utf8)
    } else {
      append(contentsOf: value.description.utf8)
    }
  }
}
