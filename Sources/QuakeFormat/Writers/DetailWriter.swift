public import QuakeModel

/// Writes the document about one event, in the form of USGS's detail documents: a GeoJSON feature with
/// `products`, of which the store knows the origin, and the results that are among the event's values.
public enum DetailWriter {
  /// The document of an event.
  ///
  /// - Parameters:
  ///   - earlier: The event as it was before, the oldest first; each becomes an origin of less weight.
  ///   - form: The form, which has the addresses.
  public static func document(
    of event: EventRecord, earlier: [EventRecord] = [], form: ServiceForm
  ) -> [UInt8] {
    var writer = GeoJSONWriter(form: form)
    writer.feature(event) { json in
      json.object("products") { json in
        json.array("origin") { json in
          for (index, origin) in (earlier + [event]).enumerated().reversed() {
            product(
              "origin", origin, weight: index + 1, quakeML: event.isPast ? nil : form.quakeML,
              to: &json
            ) { originProperties(origin, &$0) }
          }
        }
        if event.has(.felt) || event.has(.cdi) {
          single("dyfi", event, to: &json) { json in
            text("maxmmi", event.cdi, &json)
            text("numResp", event.felt, &json)
            text("num-responses", event.felt, &json)
          }
        }
        if event.has(.mmi) {
          single("shakemap", event, to: &json) { text("maxmmi", event.mmi, &$0) }
        }
        if let alert = event.alert {
          single("losspager", event, to: &json) { json in
            text("alertlevel", alert, &json)
            text("maxmmi", event.mmi, &json)
          }
        }
      }
    }
    var document: [UInt8] = []
    writer.drain { document += $0 }
    return document
  }

  private static func single(
    _ type: StaticString, _ event: EventRecord, to json: inout JSONWriter,
    _ properties: (inout JSONWriter) -> Void
  ) {
    json.array(type) { product(type, event, weight: 1, to: &$0, properties) }
  }

  private static func product(
    _ type: StaticString, _ event: EventRecord, weight: Int, quakeML: EventAddress? = nil,
    to json: inout JSONWriter, _ properties: (inout JSONWriter) -> Void
  ) {
    let source = event.network ?? event.source ?? ""
    let code = event.code ?? ""
    let updated = (event.updated ?? event.time)?.microseconds ?? 0
    let milliseconds = Int(updated / 1000)
    json.object { json in
      json.member("indexid", weight)
      json.member("indexTime", milliseconds)
      json.member("id", "urn:usgs-product:\(source):\(type):\(code):\(milliseconds)")
      json.member("type", "\(type)")
      json.member("code", code)
      json.member("source", source)
      json.member("updateTime", milliseconds)
      json.member("status", event.isPast ? "DELETE" : "UPDATE")
      json.object("properties") { json in
        text("eventsource", source, &json)
        text("eventsourcecode", event.networkCode ?? code, &json)
        properties(&json)
      }
      json.member("preferredWeight", weight)
      json.object("contents") { json in
        guard var quakeML else { return }
        json.object("quakeml.xml") { json in
          text("contentType", "application/xml", &json)
          json.member("lastModified", milliseconds)
          json.key("url")
          quakeML.withAddress(of: event) { json.string(utf8: $0) }
        }
      }
    }
  }

  /// The values are texts, as in all products.
  private static func originProperties(_ event: EventRecord, _ json: inout JSONWriter) {
    if let time = event.time { text("eventtime", "\(time)", &json) }
    text("latitude", event.latitude, &json)
    text("longitude", event.longitude, &json)
    text("depth", event.depth, &json)
    text("magnitude", event.magnitude, &json)
    text("magnitude-type", event.magnitudeType, &json)
    text("magnitude-source", event.network, &json)
    text("origin-source", event.network, &json)
    text("event-type", event.type, &json)
    text("review-status", event.status, &json)
    text("num-stations-used", event.stationCount, &json)
    text("azimuthal-gap", event.azimuthalGap, &json)
    text("minimum-distance", event.nearestStationDistance, &json)
    text("standard-error", event.rms, &json)
  }

  private static func text(_ name: StaticString, _ value: String?, _ json: inout JSONWriter) {
    guard let value else { return }
    json.member(name, value)
  }

  private static func text(_ name: StaticString, _ value: Int?, _ json: inout JSONWriter) {
    text(name, value.map { "\($0)" }, &json)
  }

  private static func text(_ name: StaticString, _ value: Double?, _ json: inout JSONWriter) {
    guard let value, value.isFinite else { return }
    var digits = JSONWriter()
    digits.double(value)
    text(name, String(decoding: digits.take(), as: UTF8.self), &json)
  }
}
