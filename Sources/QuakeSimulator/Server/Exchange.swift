import Compression

/// A request, as far as the service looks at it.
struct Request: Sendable {
  enum Method: Sendable {
    /// GET or HEAD.
    case get
    case post
    case other
  }

  /// One `name=value` of the query, decoded.
  struct Argument: Sendable {
    var name: String
    var value: String
  }

  var method: Method
  /// The path without the query, decoded.
  var path: String
  /// The query in its order.
  var arguments: [Argument] = []
  var acceptsGzip = false
  var ifNoneMatch: String?
  var ifModifiedSince: String?

  /// The value of the last argument of that name.
  func argument(_ name: String) -> String? {
    arguments.last { $0.name == name }?.value
  }
}

/// An answer, before it becomes one of libmicrohttpd's.
struct Answer: Sendable {
  struct Header: Sendable {
    var name: String
    var value: String

    init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The HTTP status.
  var status: UInt32 = 200
  var headers: [Header] = []
  var body: [UInt8] = []
  /// How much of the body is sent before the connection is closed; nil: all.
  var sentBytes: Int?

  /// A short text.
  static func text(_ text: String, status: UInt32 = 200) -> Answer {
    Answer(
      status: status, headers: [Header("Content-Type", "text/plain; charset=utf-8")],
      body: Array(text.utf8))
  }

  /// A JSON document.
  static func json(_ bytes: [UInt8]) -> Answer {
    Answer(headers: [Header("Content-Type", "application/json; charset=utf-8")], body: bytes)
  }
}

/// Compresses bodies.
enum Gzip {
  /// The bytes as a gzip file; nil if they cannot be compressed.
  static func compress(_ bytes: [UInt8]) -> [UInt8]? {
    // Level 1: a busy loopback, not a slow line.
    let compressor = GzipCompressor(level: 1)
    var output: [UInt8] = []
    do {
      try bytes.withUnsafeBytes { try compressor.compress($0) { output.append(contentsOf: $0) } }
      try compressor.finish { output.append(contentsOf: $0) }
    } catch {
      return nil
    }
    return output
  }
}
