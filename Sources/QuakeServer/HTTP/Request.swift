import QuakeModel

/// A request, as the services see it.
struct Request: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
    case other = ""

    init(_ name: String) {
      self = Method(rawValue: name) ?? .other
    }
  }

  var method: Method
  /// The path and the query as the client sent them, encoded.
  var target: String
  /// The path, decoded.
  var path: String
  /// The parts of the path between its slashes, decoded.
  var segments: [String] = []
  /// The parameters of the query, decoded, in their order.
  var query: [QueryItem] = []
  var headers = HeaderFields()
  var body: [UInt8] = []
  /// The values of the placeholders of the route's path: `["id": "us7000abcd"]` for `/v1/quakes/{id}`.
  var parameters: [String: String] = [:]
  /// The client's address; behind a trusted proxy, the one that the proxy names.
  var client: String
  /// The address of the server as the client sees it, without a slash at its end: `http://host:port`.
  var baseURL: String
  /// The path as the client sent it, encoded.
  var encodedPath: Substring { target.prefix { $0 != "?" } }
  /// The name of the valid bearer token that the request has; nil on routes that need none.
  var author: String?
  /// Whether the client may see which sessions of the database made the changes: their roles, process ids and
  /// addresses.
  var seesSessions = false
}

/// The path and the query of a request, decoded from the form in which a client sends them.
struct RequestTarget: Sendable, Equatable {
  /// The path, decoded; it begins with a slash.
  var path: String
  /// The parts of the path between its slashes, decoded: `/a/b%2Fc` has "", "a" and "b/c".
  var segments: [String]
  /// The parameters of the query, in their order.
  var query: [QueryItem]
  /// The name and the port of the server, if the client sent a whole address, as to a proxy.
  var authority: String?

  /// The most parameters of a query.
  static let mostParameters = 200

  /// Decodes a target such as `/v1/quakes?place=P%C4%81hala+Hawaii`.
  ///
  /// - Throws: `HTTPError` 400 if an escape is incomplete, the text is not UTF-8 or contains a control
  ///   character, or there are too many parameters.
  init(_ text: String) throws(HTTPError) {
    let bytes = Array(text.utf8)
    var start = 0
    if bytes.first != UInt8(ascii: "/") {
      guard let host = ["http://", "https://"].first(where: text.lowercased().hasPrefix) else {
        if text == "*" {
          (path, segments, query) = ("*", ["*"], [])
          return
        }
        throw HTTPError(400, "The address of the request does not begin with a slash.")
      }
      start =
        bytes[host.utf8.count...].firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        ?? bytes.count
      authority = String(decoding: bytes[host.utf8.count..<start], as: UTF8.self)
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
        guard index + 2 < text.endIndex,
          let escaped = PercentEncoding.byte(text[index + 1], text[index + 2])
        else {
          throw HTTPError(
            400, "The \(part) of the address has a percent sign without two hexadecimal digits.")
        }
        byte = escaped
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
}

/// The header fields of a message, in their order. Names are compared without regard to case.
struct HeaderFields: Sendable, ExpressibleByDictionaryLiteral {
  struct Field: Sendable {
    var name: String
    var value: String
  }

  private(set) var fields: [Field] = []

  init() {}

  init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// The value of the first field of that name, which must be in small letters.
  subscript(name: String) -> String? {
    fields.first { Self.isSame($0.name, name) }?.value
  }

  /// The values of all fields of that name, joined by commas, as a list field is read.
  func list(_ name: String) -> String? {
    let values = fields.filter { Self.isSame($0.name, name) }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// How many fields of that name there are, which must be in small letters.
  func count(_ name: String) -> Int { fields.count { Self.isSame($0.name, name) } }

  mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// Removes all fields of that name, which must be in small letters.
  mutating func remove(_ name: String) {
    fields.removeAll { Self.isSame($0.name, name) }
  }

  /// Adds a field unless there is one of that name.
  mutating func appendIfAbsent(_ name: String, _ value: String) {
    if self[name.lowercased()] == nil { append(name, value) }
  }

  private static func isSame(_ name: String, _ small: String) -> Bool {
    name.utf8.count == small.utf8.count
      && zip(name.utf8, small.utf8).allSatisfy {
        $0 == $1 || ($0 >= 0x41 && $0 <= 0x5A && $0 | 0x20 == $1)
      }
  }
}

/// One `name=value` of a query, decoded.
struct QueryItem: Sendable, Equatable {
  var name: String
  var value: String
}

/// A socket taken from the HTTP library to write a body without an end.
///
/// The owner writes to `descriptor`, which does not block, and calls `end` exactly once when it is done. That
/// hands the socket back to the library, which closes it. `end` may be called on any thread.
struct TakenSocket: Sendable {
  let descriptor: Int32
  /// Bytes that the client sent after its request and the library has read already; only after an upgrade.
  var received: [UInt8] = []
  let end: @Sendable () -> Void
}
