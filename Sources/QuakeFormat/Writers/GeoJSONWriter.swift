package import QuakeModel

/// GeoJSON in the form of USGS's feeds: `metadata`, a feature for each event with all of USGS's properties, and
/// `bbox`.
///
/// A feature has the property `quake:source` if its code does not tell its catalogue, as those of events that no
/// feed has brought, and `quake:others` if events of other sources are the same earthquake.
struct GeoJSONWriter: EventWriter {
  private var json = JSONWriter()
  private var bounds = Bounds()
  private var isFirst = true
  private let isForService: Bool
  private var pages: EventAddress
  private var details: EventAddress
  private var text: [UInt8] = []

  /// - Parameter form: The form for programs that read USGS's documents; nil: null for missing values.
  init(form: ServiceForm? = nil) {
    isForService = form != nil
    let form = form ?? ServiceForm(baseURL: "", detail: .feed)
    pages = form.pages
    details = form.details
  }

  /// The extent of the events on each axis.
  private struct Bounds {
    var longitude: ClosedRange<Double>?
    var latitude: ClosedRange<Double>?
    var depth: ClosedRange<Double>?

    static func add(_ value: Double?, to range: inout ClosedRange<Double>?) {
      guard let value, value.isFinite else { return }
      guard let known = range else { return range = value...value }
      if !known.contains(value) {
        range = min(known.lowerBound, value)...max(known.upperBound, value)
      }
    }
  }

  var count: Int { json.count }

  mutating func begin(_ head: DocumentHead) {
    json.beginObject()
    json.member("type", "FeatureCollection")
    json.key("metadata")
    json.beginObject()
    json.member("generated", Int(head.generated.microseconds / 1000))
    json.member("url", head.url)
    json.member("title", head.title)
    json.member("status", 200)
    json.member("api", head.api)
    if let limit = head.limit {
      json.member("limit", limit)
      json.member("offset", head.offset)
    }
    if let count = head.count {
      json.member("count", count)
    }
    json.endObject()
    json.beginArray("features")
  }

  mutating func event(_ event: EventRecord, revision: Int64?) {
    self.event(event, revision: revision, others: [])
  }

  mutating func event(_ event: EventRecord, revision: Int64?, others: [String]) {
    if isFirst { isFirst = false } else { json.commaAndNewline() }
    feature(event) { json in if !others.isEmpty { json.member("quake:others", others) } }
  }

  /// Writes an event, with the properties that `more` adds.
  mutating func feature(_ event: EventRecord, _ more: (inout JSONWriter) -> Void) {
    json.beginObject()
    json.member("type", "Feature")
    json.key("properties")
    json.beginObject()
    writeProperties(event)
    more(&json)
    json.endObject()
    json.key("geometry")
    writeGeometry(event)
    json.member("id", of: .code, in: event)
    json.endObject()
  }

  mutating func end() {
    json.endArray()
    if let longitude = bounds.longitude, let latitude = bounds.latitude, let depth = bounds.depth,
      [longitude, latitude, depth].allSatisfy({ $0.lowerBound < $0.upperBound })
    {
      json.beginArray("bbox")
      for range in [longitude, latitude, depth] { json.double(range.lowerBound) }
      for range in [longitude, latitude, depth] { json.double(range.upperBound) }
      json.endArray()
    }
    json.endObject()
    json.newline()
  }

  mutating func drain(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try json.withBytes(body)
    json.removeWritten()
  }

  private mutating func writeProperties(_ event: EventRecord) {
    value("mag", .magnitude, event)
    value("place", .place, event)
    instant("time", .time, event)
    instant("updated", .updated, event)
    json.null("tz")
    value("url", .url, event)
    if isForService {
      json.key("detail")
      details.withAddress(of: event) { json.string(utf8: $0) }
    } else {
      value("detail", .detail, event)
    }
    value("felt", .felt, event)
    value("cdi", .cdi, event)
    value("mmi", .mmi, event)
    value("alert", .alert, event)
    if event.isPast {
      json.key("status")
      json.string(utf8: PastEvent.status)
    } else {
      value("status", .status, event)
    }
    value("tsunami", .tsunami, event)
    value("sig", .sig, event)
    value("net", .net, event)
    value("code", .netCode, event)
    value("ids", .ids, event)
    value("sources", .sources, event)
    value("types", .types, event)
    value("nst", .nst, event)
    value("dmin", .dmin, event)
    value("rms", .rms, event)
    value("gap", .gap, event)
    value("magType", .magnitudeType, event)
    if event.isPast && !isForService {
      json.key("type")
      json.string(utf8: PastEvent.type)
    } else {
      value("type", .type, event)
    }
    value("title", .title, event)
    if !event.codeTellsSource { value("quake:source", .source, event) }
  }

  private mutating func writeGeometry(_ event: EventRecord) {
    guard let longitude = event.longitude, let latitude = event.latitude else {
      return json.null()
    }
    // Programs that read USGS's documents fail on a position without a depth.
    let depth = event.depth ?? (isForService ? 0 : nil)
    Bounds.add(longitude, to: &bounds.longitude)
    Bounds.add(latitude, to: &bounds.latitude)
    Bounds.add(depth, to: &bounds.depth)
    json.point(longitude, latitude, depth)
  }

  private mutating func value(_ name: StaticString, _ column: EventColumn, _ event: EventRecord) {
    json.key(name)
    if event.has(column) || !isForService {
      json.value(of: column, in: event)
    } else {
      writeMissing(column, event)
    }
  }

  /// Writes what programs expect where an event has no value.
  private mutating func writeMissing(_ column: EventColumn, _ event: EventRecord) {
    text.removeAll(keepingCapacity: true)
    switch column {
    case .url: return pages.withAddress(of: event) { json.string(utf8: $0) }
    case .type: return json.string(utf8: "earthquake")
    case .types: return json.string(utf8: ",origin,")
    case .tsunami: return json.integer(0)
    case .title: EventTitle.append(event, to: &text)
    case .ids: appendList(of: .code, event)
    case .sources: appendList(of: event.has(.net) ? .net : .source, event)
    default: return json.null()
    }
    text.withUnsafeBytes { json.string(utf8: $0) }
  }

  private mutating func appendList(of column: EventColumn, _ event: EventRecord) {
    text.append(UInt8(ascii: ","))
    event.withUTF8(column) { (utf8: UnsafeRawBufferPointer?) in
      if let utf8 { text += utf8 }
    }
    text.append(UInt8(ascii: ","))
  }

  /// Milliseconds since 1970, as USGS writes them. If the instant has microseconds, they have decimals, but not for
  /// programs that read USGS's documents: many take whole numbers only.
  private mutating func instant(
    _ name: StaticString, _ column: EventColumn, _ event: EventRecord
  ) {
    json.key(name)
    let instant = event.timestamp(column) ?? (isForService ? event.time : nil)
    guard let microseconds = instant?.microseconds else { return json.null() }
    if isForService || microseconds % 1000 == 0 {
      json.integer(Int(microseconds / 1000))
    } else {
      json.double(Double(microseconds) / 1000)
    }
  }
}

extension JSONWriter {
  /// Writes a point of GeoJSON (RFC 7946).
  ///
  /// - Parameters:
  ///   - longitude: In degrees.
  ///   - latitude: In degrees.
  ///   - third: The third coordinate in kilometres: a depth, or a height in formats that have heights. Nil: the
  ///     point has two coordinates, because a position cannot contain null.
  package mutating func point(_ longitude: Double, _ latitude: Double, _ third: Double?) {
    beginObject()
    member("type", "Point")
    beginArray("coordinates")
    double(longitude)
    double(latitude)
    if let third { double(third) }
    endArray()
    endObject()
  }
}

extension JSONWriter {
  /// Writes a string that is known at compile time.
  mutating func string(utf8 text: StaticString) {
    text.withUTF8Buffer { string(utf8: UnsafeRawBufferPointer($0)) }
  }
}

/// One event a line, with a member for each column, as `quake-query list --json` prints it.
struct NDJSONWriter: EventWriter {
  private var json = JSONWriter()

  var count: Int { json.count }

  mutating func begin(_ head: DocumentHead) {}

  mutating func event(_ event: EventRecord, revision: Int64?) {
    json.quake(event)
    json.newline()
  }

  mutating func end() {}

  mutating func drain(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try json.withBytes(body)
    json.removeAll()
  }
}
