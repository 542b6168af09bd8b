import QuakeModel

/// The supported formats, which are recognised by content.
public enum FeedFormat: String, Sendable, CaseIterable {
  /// USGS GeoJSON: summary feeds, the FDSN service's `format=geojson`, a single feature.
  case usgsGeoJSON = "usgs-geojson"
  /// EMSC's FDSN service, `format=json`.
  case emscJSON = "emsc-json"
  case geonetJSON = "geonet-json"
  case usgsCSV = "usgs-csv"
  /// FDSN's text, of any data centre: an event service's `format=text`.
  case fdsnText = "fdsn-text"
  /// One JSON object a line, as `quake-query list --json` prints it.
  case ndjson
  /// QuakeML 1.2, or an older version.
  case quakeML = "quakeml"
  /// SeisComP's XML: SC3ML, SCML.
  case seisComP = "scml"

  /// The data centre of the catalogue; nil if the format does not imply it.
  var centre: DataCentre? {
    switch self {
    case .usgsGeoJSON, .usgsCSV: .usgs
    case .emscJSON: .emsc
    case .geonetJSON: .geonet
    case .fdsnText, .ndjson, .quakeML, .seisComP: nil
    }
  }
}

extension FeedFormat {
  /// The members of a feature's `properties` that are read, in their usual order.
  var properties: [PropertyTable.Entry] {
    switch self {
    case .usgsGeoJSON:
      [
        .init("mag", .magnitude, .number),
        .init("place", .place, .text),
        .init("time", .time, .milliseconds),
        .init("updated", .updated, .milliseconds),
        .init("url", .url, .text),
        .init("detail", .detail, .text),
        .init("felt", .felt, .integer),
        .init("cdi", .cdi, .number),
        .init("mmi", .mmi, .number),
        .init("alert", .alert, .text),
        .init("status", .status, .text),
        .init("tsunami", .tsunami, .integer),
        .init("sig", .sig, .integer),
        .init("net", .net, .text),
        .init("code", .netCode, .text),
        .init("ids", .ids, .text),
        .init("sources", .sources, .text),
        .init("types", .types, .text),
        .init("nst", .nst, .integer),
        .init("dmin", .dmin, .number),
        .init("rms", .rms, .number),
        .init("gap", .gap, .number),
        .init("magType", .magnitudeType, .text),
        .init("type", .type, .text),
        .init("title", .title, .text),
        // An export has it where the id does not tell the catalogue.
        .init("quake:source", .source, .text),
      ]
    case .emscJSON:
      [
        .init("lastupdate", .updated, .iso8601),
        .init("time", .time, .iso8601),
        .init("flynn_region", .place, .text),
        .init("depth", .depth, .number),
        .init("evtype", .type, .emscEventType),
        .init("auth", .net, .text),
        .init("mag", .magnitude, .number),
        .init("magtype", .magnitudeType, .text),
        .init("unid", .netCode, .identifier),
      ]
    case .geonetJSON:
      [
        .init("publicID", .netCode, .identifier),
        .init("time", .time, .iso8601),
        .init("depth", .depth, .number),
        .init("magnitude", .magnitude, .number),
        .init("mmi", .mmi, .number),
        .init("locality", .place, .text),
        .init("quality", .status, .text),
      ]
    case .ndjson: EventColumn.feed.map { .init($0.key, $0, .init($0.kind)) }
    case .usgsCSV, .fdsnText, .quakeML, .seisComP: []
    }
  }

  /// The columns that a GeoJSON feature of this format can fill.
  var featureColumns: [EventColumn] {
    let always: Set<EventColumn> = [.code, .source, .longitude, .latitude, .depth]
    let carried = always.union(properties.map(\.column))
    return EventColumn.feed.filter(carried.contains)
  }
}

/// EMSC's event types, two letters of the international bulletin format (IMS 1.0): the certainty and the
/// type.
enum EMSCEventType {
  /// QuakeML's word for the type; nil if QuakeML has none.
  static func name(of code: UnsafeRawBufferPointer) -> StaticString? {
    guard code.count == 2 else { return nil }
    if code.elementsEqual("ls".utf8) { return "landslide" }
    if code.elementsEqual("uk".utf8) { return "not reported" }
    switch code[0] {
    case UInt8(ascii: "k"), UInt8(ascii: "s"), UInt8(ascii: "f"), UInt8(ascii: "d"): break
    default: return nil
    }
    switch code[1] {
    case UInt8(ascii: "e"): return "earthquake"
    case UInt8(ascii: "x"): return "explosion"
    case UInt8(ascii: "h"): return "chemical explosion"
    case UInt8(ascii: "m"): return "mining explosion"
    case UInt8(ascii: "n"): return "nuclear explosion"
    case UInt8(ascii: "r"): return "rock burst"
    case UInt8(ascii: "i"): return "induced or triggered event"
    default: return nil
    }
  }
}

/// The syntax of a feed, recognised by its first bytes.
enum FeedSyntax {
  case json, csv, xml
  case jsonLines
  case text

  /// How many bytes are examined to describe an unsupported format.
  private static let sniffBytes = 1024

  /// The offset of the text, after a byte order mark if there is one.
  static func skipByteOrderMark(_ input: InputBuffer) throws(FeedError) -> Int {
    while input.end < 3, try input.fill(keepingFrom: 0) {}
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    return input.bytes(0..<min(input.end, 3)).elementsEqual(mark) ? 3 : 0
  }

  /// Examines the beginning, from `start` on. Throws if the syntax is not supported.
  static func sniff(_ input: InputBuffer, from start: Int) throws(FeedError) -> FeedSyntax {
    while input.end < start + sniffBytes, try input.fill(keepingFrom: 0) {}
    let head = input.bytes(start..<min(input.end, start + sniffBytes))
    let text = head.drop { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
    guard let first = text.first else {
      // Text may follow after more spaces than are examined; then the JSON reader reports errors.
      if head.count == sniffBytes { return .json }
      throw FeedError(
        .emptyBody, "\(input.name) is empty", detail: "The body is empty.",
        hint: "Try again later.")
    }
    let folded = Array(String(decoding: text, as: UTF8.self).lowercased().utf8)
    switch first {
    case UInt8(ascii: "{"): return isEventLine(text) ? .jsonLines : .json
    case UInt8(ascii: "["): return .json
    case UInt8(ascii: "<"):
      let isHTML = folded.contains("<html".utf8) || folded.contains("<!doctype html".utf8)
      if !isHTML, isXML(folded) { return .xml }
      throw FeedError(
        .html, "\(input.name) looks like an HTML page, not a feed",
        detail: "It begins with \"<\".",
        hint: "Check the URL, and whether a captive portal answers in its place.")
    default:
      return isTextHeader(folded) ? .text : .csv
    }
  }

  /// Whether the text begins with an XML declaration, a comment, a document type, or the root of a kind of
  /// document that is known.
  private static func isXML(_ text: [UInt8]) -> Bool {
    guard text.count > 1 else { return false }
    if text[1] == UInt8(ascii: "?") || text[1] == UInt8(ascii: "!") { return true }
    let name = text.dropFirst().prefix {
      $0 > 0x20 && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/")
    }
    let local = name.split(separator: UInt8(ascii: ":")).last ?? []
    return ["quakeml", "seiscomp", "kml", "feed"].contains { local.elementsEqual($0.utf8) }
  }

  /// Whether an object begins with a member that an event has, and a feed has not.
  private static func isEventLine(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
    let key = text.dropFirst().drop { $0 == 0x20 || $0 == 0x09 }
    guard key.first == UInt8(ascii: "\"") else { return false }
    let name = key.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
    let names: [StaticString] = [
      "code", "net", "net_code", "magnitude", "magnitude_type", "place", "time", "updated",
      "longitude", "latitude", "depth",
    ]
    return names.contains { $0.withUTF8Buffer { name.elementsEqual($0) } }
  }

  /// Whether the text begins like `#EventID|Time|...`. Some centres omit the `#`, or put spaces around the
  /// bars.
  private static func isTextHeader(_ folded: [UInt8]) -> Bool {
    let name = folded.drop { $0 == UInt8(ascii: "#") || $0 == 0x20 }
    guard name.starts(with: "eventid".utf8) else { return false }
    return name.dropFirst("eventid".utf8.count).first { $0 != 0x20 } == UInt8(ascii: "|")
  }
}

/// Decodes the events of a feed in one format.
///
/// It is made at the beginning of the feed, after any byte order mark, and reads as much as it needs to know its
/// columns. It is a class, so that a call through the protocol copies nothing.
protocol FeedDecoder: AnyObject {
  var format: FeedFormat { get }
  /// The columns that the feed can fill.
  var columns: [EventColumn] { get }
  /// Those of `columns` that the feed does not have, but that follow from others.
  var inferredColumns: Set<EventColumn> { get }
  /// The metadata of the feed, complete when all events have been read.
  var metadata: FeedMetadata { get }
  /// Whether `metadata` may still tell when the feed was generated.
  var mayTellGenerated: Bool { get }

  /// Reads the next event into `record`, which must be empty; nil after the last.
  func next(into record: inout EventRecord) throws(FeedError) -> DecodedEvent?
}

extension FeedDecoder {
  var inferredColumns: Set<EventColumn> { [] }
  var metadata: FeedMetadata { FeedMetadata() }
  var mayTellGenerated: Bool { false }
}

enum DecodedEvent {
  case record
  /// The event is invalid. The record has the values that were read before the invalid one.
  case reject(Rejection, RejectedText)
}

/// An event that is rejected, as it is written.
struct RejectedText {
  /// Its offset in the (decompressed) input.
  let offset: Int
  /// The line it begins on, counted from 1.
  let line: Int
  /// Its text, cut and made safe to store.
  let raw: String

  init(_ bytes: UnsafeRawBufferPointer, at offset: Int, line: Int) {
    self.offset = offset
    self.line = line
    raw = FeedReject.text(bytes)
  }
}

extension InputBuffer {
  /// A line, or a row, that is rejected.
  func text(of line: LineReader.Line) -> RejectedText {
    RejectedText(bytes(line.range), at: line.range.lowerBound, line: line.number)
  }
}
