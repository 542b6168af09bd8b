/// An answer to a request.
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

  /// The HTTP status.
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

  /// An answer with a short text.
  static func text(
    _ text: String, status: Int = 200, type: String = "text/plain; charset=utf-8",
    _ headers: HeaderFields = [:]
  ) -> Response {
    Response(status, headers, body: .document(Document(Array(text.utf8), contentType: type)))
  }
}
