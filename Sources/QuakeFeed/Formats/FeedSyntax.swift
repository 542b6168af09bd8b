import CSimdjson

/// The syntax of a feed, recognised by its first bytes.
enum FeedSyntax {
  case json, csv, xml
  /// A JSON object a line.
  case jsonLines
  /// FDSN text.
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
      let isHTML = folded.hasBytes("<html") || folded.hasBytes("<!doctype html")
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

  /// The dialect of a feature: USGS's, unless it has the member that distinguishes another dialect. If the
  /// feature is invalid JSON, its text is searched for the member, because the other features may be valid.
  static func dialect(of feature: UnsafeRawBufferPointer, parser: JSONParser) -> FeedFormat {
    do throws(JSONParser.SyntaxError) {
      for member in try parser.parse(feature).members where member.isNamed("properties") {
        for property in member.value.members {
          if property.isNamed("unid") { return .emscJSON }
          if property.isNamed("publicID") { return .geonetJSON }
        }
      }
      return .usgsGeoJSON
    } catch {
      if feature.hasBytes("\"unid\"") { return .emscJSON }
      return feature.hasBytes("\"publicID\"") ? .geonetJSON : .usgsGeoJSON
    }
  }
}
