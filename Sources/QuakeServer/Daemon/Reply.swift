import Compression

/// A response as it is sent, after conditions, ranges and codings are applied.
struct Reply {
  enum Body {
    case none
    /// A part of a document.
    case part(Document, Range<Int>)
    case stream(@Sendable (TakenSocket) -> Void)
    case upgrade(@Sendable (TakenSocket) -> Void)
  }

  var status: Int
  var headers: HeaderFields
  var body: Body

  /// The reply to a request.
  ///
  /// A document is sent compressed if that form has been made, and whole or in part as the request asks.
  init(_ response: Response, to request: Request) {
    status = response.status
    headers = response.headers
    body = .none
    switch response.body {
    case .empty: break
    case .stream(let begin): if request.method != .head { body = .stream(begin) }
    case .upgrade(let begin): body = .upgrade(begin)
    case .document(let document): add(document, request)
    }
    Self.addSecurity(to: &headers)
  }

  private mutating func add(_ document: Document, _ request: Request) {
    headers.appendIfAbsent("Content-Type", document.contentType)
    let isRead = request.method == .get || request.method == .head
    guard status == 200, isRead else {
      return body = .part(document, 0..<document.size)
    }
    let compressed = document.compressedForm
    let asked = request.headers["range"]
    var sent = document
    if let compressed, asked == nil,
      AcceptEncoding.acceptsGzip(request.headers.list("accept-encoding"))
    {
      sent = compressed
      headers.append("Content-Encoding", "gzip")
    }
    if document.isCompressible { headers.append("Vary", "Accept-Encoding") }
    headers.append("ETag", sent.entityTag)
    let known = request.headers.list("if-none-match")
    if EntityTags.contains(known, sent.entityTag) || EntityTags.contains(known, document.entityTag)
    {
      status = 304
      return
    }
    headers.append("Accept-Ranges", "bytes")
    // A part of another body than the one that the client has would not fit.
    let isSame = request.headers["if-range"].map { $0 == document.entityTag } ?? true
    switch ByteRange(isSame ? asked : nil, size: document.size) {
    case .whole:
      body = .part(sent, 0..<sent.size)
    case .part(let range):
      status = 206
      headers.append(
        "Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(document.size)")
      body = .part(document, range)
    case .unsatisfiable:
      status = 416
      headers.append("Content-Range", "bytes */\(document.size)")
    }
  }

  private static func addSecurity(to headers: inout HeaderFields) {
    headers.appendIfAbsent("X-Content-Type-Options", "nosniff")
    headers.appendIfAbsent("Referrer-Policy", "no-referrer")
    headers.appendIfAbsent(
      "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
  }
}
