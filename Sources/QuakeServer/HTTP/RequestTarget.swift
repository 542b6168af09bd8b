/// The path and the query of a request, decoded from the form in which a client sends them.
struct RequestTarget: Sendable, Equatable {
  /// The path, decoded; it begins with a slash.
  var path: String
  /// The parts of the path between its slashes, decoded: `/a/b%2Fc` has "", "a" and "b/c".
  var segments: [String]
  /// The parameters of the query, in their order.
  var query: [QueryItem]

  /// The most parameters of a query.
  static let mostParameters = 200

  /// Decodes a target such as `/v1/quakes?place=P%C4%81hala+Hawaii`.
  ///
  /// - Throws: `HTTPError` 400 if an escape is incomplete, the text is not UTF-8 or contains a control
  ///   character, or there are too many parameters.
  init(_ text: String) throws(HTTPError) {
    let bytes = Array(text.utf8)
    // Some clients send the whole address, as to a proxy.
    var start = 0
    if bytes.first != UInt8(ascii: "/") {
      guard let scheme = text.firstRange(of: "://"), text.hasPrefix("http") else {
        if text == "*" {
          (path, segments, query) = ("*", ["*"], [])
          return
        }
        throw HTTPError(400, "The address of the request does not begin with a slash.")
      }
      let host = text.utf8.distance(from: text.startIndex, to: scheme.upperBound)
      start = bytes[host...].firstIndex(of: UInt8(ascii: "/")) ?? bytes.count
    }
    let mark = bytes[start...].firstIndex(of: UInt8(ascii: "?")) ?? bytes.count
    // Before it is decoded: an encoded slash belongs to the name of an event, and separates nothing.
    segments = try bytes[start..<mark].split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
    ).map { part throws(HTTPError) in try Self.decode(part, plusIsSpace: false, "path") }
    if start == mark { segments = ["", ""] }
    path = segments.joined(separator: "/")
    query = []
    guard mark < bytes.count else { return }
    let items = bytes[(mark + 1)...].split(separator: UInt8(ascii: "&"))
    guard items.count <= Self.mostParameters else {
      throw HTTPError(400, "The query has more than \(Self.mostParameters) parameters.")
    }
    for item in items {
      let equals = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
      let name = try Self.decode(item[..<equals], plusIsSpace: true, "query")
      let value = try Self.decode(item[equals...].dropFirst(), plusIsSpace: true, "query")
      query.append(QueryItem(name: name, value: value))
    }
  }

  private static func decode(
    _ text: ArraySlice<UInt8>, plusIsSpace: Bool, _ part: String
  ) throws(HTTPError) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
      var byte = text[index]
      if byte == UInt8(ascii: "%") {
        guard index + 2 < text.endIndex, let high = hexadecimal(text[index + 1]),
          let low = hexadecimal(text[index + 2])
        else {
          throw HTTPError(
            400, "The \(part) of the address has a percent sign without two hexadecimal digits.")
        }
        byte = high << 4 | low
        index += 2
      } else if plusIsSpace, byte == UInt8(ascii: "+") {
        byte = 0x20
      }
      guard byte >= 0x20, byte != 0x7F else {
        throw HTTPError(400, "The \(part) of the address contains a control character.")
      }
      bytes.append(byte)
      index += 1
    }
    guard let decoded = String(validating: bytes, as: UTF8.self) else {
      throw HTTPError(400, "The \(part) of the address is not valid UTF-8.")
    }
    return decoded
  }

  private static func hexadecimal(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
  }
}
