import Basics
import QuakeModel
import Synchronization

/// A request from its first line to the end of its answer.
///
/// The thread of the HTTP library uses it, and while its connection is suspended, a thread of the pool.
final class Exchange: Sendable {
  enum Phase {
    /// Its header has not been read.
    case new
    /// Its body arrives.
    case reading
    /// Its answer is made.
    case working
    /// It has its answer, which has not been queued.
    case answered
    /// Its answer is on its way.
    case sending
  }

  struct State {
    var phase = Phase.new
    var request: Request?
    var match: RouteTable.Match?
    /// The error in the header, which is sent when the body has been read.
    var failure: HTTPError?
    /// How many fields its header has.
    var fieldCount = 0
    /// Whether its body comes in chunks.
    var isChunked = false
    var bodySize = 0
    var response: Response?
    /// The document that is sent from a file; it takes its space until all is sent.
    var document: Document?
    /// The change to another protocol that is the answer.
    var upgrade: Upgrade?
    /// The status that was sent; 0 before.
    var status = 0
    /// The number of bytes of the answer's body; nil: it has no end.
    var sentSize: Int? = 0

    /// Releases the parts of the request that the answer no longer needs: a stream may last for days.
    mutating func releaseRequest() {
      var headers = HeaderFields()
      if let program = request?.headers["user-agent"] { headers.append("User-Agent", program) }
      request?.headers = headers
      request?.query = []
      request?.parameters = [:]
      request?.body = []
      response = nil
    }
  }

  /// The target as the client sent it.
  let target: String
  /// Where the target lay in the memory of the HTTP library when the first line had arrived, and its length there.
  let place: UInt
  let length: Int
  let arrived: Timestamp
  let begun: Duration
  let state = Mutex(State())

  init(target: String, place: UInt, length: Int) {
    self.target = target
    self.place = place
    self.length = length
    arrived = .now()
    begun = MonotonicClock.now()
  }
}

/// A response as it is sent, after conditions, ranges and codings are applied.
struct Reply {
  enum Body {
    case none
    /// A document of this size that the client has already.
    case unsent(Int)
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
    let known = request.headers.list("if-none-match")
    let isKnown = EntityTags.contains(known, document.entityTag)
    var sent = document
    if let compressed, asked == nil,
      AcceptEncoding.acceptsGzip(request.headers.list("accept-encoding")),
      // The client keeps the form that it has: the header of 304 describes it.
      !isKnown || EntityTags.contains(known, compressed.entityTag)
    {
      sent = compressed
      headers.append("Content-Encoding", "gzip")
    }
    if document.isCompressible { headers.append("Vary", "Accept-Encoding") }
    headers.append("ETag", sent.entityTag)
    if isKnown || EntityTags.contains(known, sent.entityTag) {
      status = 304
      // A length of zero would say that the document is empty now.
      body = .unsent(sent.size)
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
