import Basics
import CommandLine
import Postgres
import QuakeModel

struct Response: Sendable {
  enum Body: Sendable {
    case empty
    /// A complete body; the server does HEAD, conditions, ranges and compression.
    case document(Document)
    /// A body without an end. The closure gets the socket after the header has been sent, on the thread of the
    /// HTTP library: it must not block.
    case stream(@Sendable (TakenSocket) -> Void)
    /// Another protocol. The closure gets the socket after the header of status 101 has been sent.
    case upgrade(@Sendable (TakenSocket) -> Void)
  }

  var status: Int
  var headers: HeaderFields
  var body: Body
  /// Whether the answer may be cached, if its route's `caching` allows it. False if it also depends on the time of
  /// the request.
  var mayBeKept = true

  init(_ status: Int = 200, _ headers: HeaderFields = [:], body: Body = .empty) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  static func text(
    _ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8",
    _ headers: HeaderFields = [:]
  ) -> Response {
    Response(status, headers, body: .document(Document(Array(text.utf8), contentType: type)))
  }
}

/// A request that cannot be answered as asked: the status and what the client is told.
struct HTTPError: Error, Sendable {
  /// The HTTP status, 400 to 599.
  var status: Int
  /// What is wrong and what to do, in sentences.
  var detail: String
  /// Header fields of the answer, such as `Allow` and `Retry-After`.
  var headers: HeaderFields

  init(_ status: Int, _ detail: String, _ headers: HeaderFields = [:]) {
    self.status = status
    self.detail = detail
    self.headers = headers
  }

  /// The standard's name of the status.
  var title: String { Self.title(of: status) }

  static func title(of status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 421: "Misdirected Request"
    case 422: "Unprocessable Content"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: "Internal Server Error"
    }
  }
}

/// The range of a body that a client asks for (RFC 9110, section 14).
enum ByteRange: Equatable {
  /// No range that this server knows: the whole body is the answer.
  case whole
  case part(Range<Int>)
  /// The body has no such part.
  case unsatisfiable

  /// Reads a value of `Range` for a body of `size` bytes. Of several ranges none is taken: a server may answer
  /// with the whole body.
  init(_ text: String?, size: Int) {
    self = .whole
    guard let text, text.hasPrefix("bytes=") else { return }
    let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, !text.contains(",") else { return }
    let first = ends[0].filter { $0 != " " }
    let last = ends[1].filter { $0 != " " }
    func number(_ digits: String) -> Int? {
      guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
        return nil
      }
      return Int(digits) ?? .max
    }
    if first.isEmpty {
      // The last bytes.
      guard let count = number(last) else { return }
      self = count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
      return
    }
    guard let start = number(first) else { return }
    if last.isEmpty {
      self = start < size ? .part(start..<size) : .unsatisfiable
      return
    }
    guard let end = number(last), end >= start else { return }
    self = start < size ? .part(start..<min(size, end == .max ? size : end + 1)) : .unsatisfiable
  }
}

/// A list of entity tags, as in `If-None-Match`.
enum EntityTags {
  /// Whether a list names a tag; a weak tag is the same as a strong one.
  static func contains(_ list: String?, _ tag: String) -> Bool {
    guard let list else { return false }
    return list.split(separator: ",").contains { item in
      var item = item.drop { $0 == " " || $0 == "\t" }
      while item.last == " " || item.last == "\t" { item.removeLast() }
      if item == "*" { return true }
      if item.hasPrefix("W/") { item = item.dropFirst(2) }
      return item == tag
    }
  }
}

extension HTTPError {
  /// The answer to a client for an error that a handler threw. It leaves out what only the operator should know,
  /// such as the address of the database; the log has that.
  init(_ error: any Error) {
    switch error {
    case let error as HTTPError:
      self = error
    case let error as UsageError:
      let suggestion = error.suggestion.map { " Did you mean '\($0)'?" } ?? ""
      // Values that contradict each other are valid by themselves.
      self.init(
        error.isContradiction ? 409 : 400, Self.sentence(error.message) + suggestion)
    case let error as StoreError where Self.status(of: error) != nil:
      self.init(Self.status(of: error) ?? 500, Self.sentences(error))
    case let error as PostgresError where error.kind == .tooLarge:
      self.init(413, "The answer of the database is too large. Ask for fewer events.")
    case let error as PostgresError where error.sqlState == SQLState.queryCanceled:
      self.init(
        503, "The query took longer than the server allows. Ask for fewer events.",
        ["Retry-After": "30"])
    case let error as PostgresError where error.isTransient:
      self.init(503, "The database is not available. Try again later.", ["Retry-After": "5"])
    case let error as PostgresError where error.category == .notAllowed:
      self.init(403, "The server's role may not do this in the database.")
    case let error as any ExplainedError:
      switch error.category {
      case .usage, .badData: self.init(400, Self.sentences(error))
      case .notAllowed: self.init(403, Self.sentences(error))
      case .unavailable, .tryLater, .interrupted:
        self.init(503, Self.sentences(error), ["Retry-After": "5"])
      case .schema:
        self.init(503, "The database does not have the schema that the server needs.")
      case .internal, .failed: self.init(500, "The server failed to answer. Its log tells why.")
      }
    default:
      self.init(500, "The server failed to answer. Its log tells why.")
    }
  }

  /// The status of errors about what a client names; nil for others.
  private static func status(of error: StoreError) -> Int? {
    switch error.kind {
    case .token(.malformed), .badData: 400
    case .token(.future), .token(.diverged), .unknownFeed, .unknownEdit: 404
    case .token(.expired): 410
    case .conflict: 409
    default: nil
    }
  }

  private static func sentences(_ error: any ExplainedError) -> String {
    ([sentence(error.message)] + [error.detail, error.hint].compactMap { $0 })
      .joined(separator: " ")
  }

  private static func sentence(_ message: String) -> String {
    let first = message.prefix(1).uppercased() + message.dropFirst()
    return first + (first.hasSuffix(".") ? "" : ".")
  }
}
