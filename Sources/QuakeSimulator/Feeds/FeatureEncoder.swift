import QuakeModel

/// Writes single events as a GeoJSON feature, or as a row of FDSN text.
///
/// The features link to a host that cannot exist: links with the address of the simulator would differ from run to
/// run, and so would the events.
struct FeatureEncoder {
  private static let address = "http://simulated.invalid/earthquakes/"
  private var writer = JSONWriter()

  static let textHeader = """
    #EventID|Time|Latitude|Longitude|Depth/km|Author|Catalog|Contributor|ContributorID|MagType|\
    Magnitude|MagAuthor|EventLocationName|EventType

    """

  /// Appends the event as a feature, without a comma or a line's end.
  mutating func appendFeature(_ event: SimulatedEvent, to output: inout [UInt8]) {
    writer.removeAll()
    writer.object { writer in
      writer.member("type", "Feature")
      writer.object("properties") { Self.properties(event, &$0) }
      writer.object("geometry") { writer in
        writer.member("type", "Point")
        writer.array("coordinates") { writer in
          writer.double(event.longitude)
          writer.double(event.latitude)
          writer.double(event.depth)
        }
      }
      writer.member("id", event.id.text)
    }
    writer.withBytes { output += $0 }
  }

  private static func properties(_ event: SimulatedEvent, _ writer: inout JSONWriter) {
    let id = event.id.text
    writer.member("mag", event.magnitude)
    writer.member("place", event.place.text)
    writer.member("time", event.time)
    writer.member("updated", event.updated)
    writer.null("tz")
    writer.member("url", "\(address)eventpage/\(id)")
    writer.member("detail", "\(address)feed/v1.0/detail/\(id).geojson")
    writer.member("felt", event.felt)
    writer.member("cdi", event.cdi)
    writer.member("mmi", event.mmi)
    writer.member("alert", event.alert?.rawValue)
    writer.member("status", event.status.rawValue)
    writer.member("tsunami", event.tsunami ? 1 : 0)
    writer.member("sig", event.significance)
    writer.member("net", event.id.network.rawValue)
    writer.member("code", event.id.code)
    writer.member("ids", list(event.otherIDs.map(\.text) + [id]))
    writer.member("sources", list(sources(of: event)))
    writer.member("types", list(types(of: event)))
    writer.member("nst", event.stations)
    writer.member("dmin", event.dmin)
    writer.member("rms", event.rms)
    writer.member("gap", event.gap)
    writer.member("magType", event.magnitudeType)
    writer.member("type", event.kind.rawValue)
    writer.member("title", title(of: event))
  }

  /// A list as feeds have it: with a comma around each element.
  private static func list(_ elements: [String]) -> String {
    "," + elements.map { $0 + "," }.joined()
  }

  private static func title(of event: SimulatedEvent) -> String {
    var magnitude = "?"
    if let value = event.magnitude {
      let tenths = Int((value * 10).rounded())
      magnitude = "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }
    let kind = event.kind.titleWords.map { " " + $0 } ?? ""
    return "M \(magnitude)\(kind) - \(event.place.text)"
  }

  private static func sources(of event: SimulatedEvent) -> [String] {
    var networks: [SeismicNetwork] = []
    for id in event.otherIDs where id.network != event.id.network {
      if !networks.contains(id.network) { networks.append(id.network) }
    }
    return (networks + [event.id.network]).map(\.rawValue)
  }

  private static func types(of event: SimulatedEvent) -> [String] {
    let isCalifornian = event.id.network == .nc || event.id.network == .ci
    let types = [
      (event.felt != nil, "dyfi"), (event.tsunami, "impact-link"),
      (event.alert != nil, "losspager"),
      (event.magnitudeType == "mww", "moment-tensor"), (isCalifornian, "nearby-cities"),
      (true, "origin"), (true, "phase-data"), (isCalifornian, "scitech-link"),
      (event.mmi != nil, "shakemap"),
    ]
    return types.filter(\.0).map(\.1)
  }

  /// Appends the event as a row of FDSN text with its line's end.
  static func appendTextRow(_ event: SimulatedEvent, to output: inout [UInt8]) {
    func text(_ number: Double?) -> String {
      number.map { Int(exactly: $0)?.description ?? $0.description } ?? ""
    }
    let network = event.id.network.rawValue
    var time = Timestamp(microseconds: event.time * 1000).description
    if time.last == "Z" { time.removeLast() }  // services leave it out
    let fields = [
      event.id.text, time, text(event.latitude), text(event.longitude), text(event.depth),
      network, "simulated", network, event.id.code, event.magnitudeType ?? "",
      text(event.magnitude), event.magnitude == nil ? "" : network, event.place.text,
      event.kind.rawValue,
    ]
    output += "\(fields.joined(separator: "|"))\n".utf8
  }
}

extension Place {
  /// The place begins with a word that no reader of a list, a title or an alert can overlook.
  fileprivate var text: String {
    "Simulated: \(distance) km \(Place.directions[direction]) of "
      + SeismicRegion.all[region].towns[town].name + (trailingSpace ? " " : "")
  }
}
