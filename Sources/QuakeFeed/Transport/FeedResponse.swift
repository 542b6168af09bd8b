public import QuakeModel

/// An HTTP response whose headers have come and whose body can be read.
public struct FeedResponse {
  /// 200; 204 (the FDSN services' "no data": an empty result, with nothing in `body`); or 304.
  public let status: Int
  /// What to send along next time, from `ETag` and `Last-Modified`.
  public let validators: FeedValidators
  /// The `Last-Modified` header as an instant.
  public let lastModified: Timestamp?
  /// The `Date` header as an instant: the server's clock.
  public let date: Timestamp?
  /// For how many seconds the feed is fresh, so that asking again makes no sense: from
  /// `Cache-Control`, else from `Expires` and `Date`.
  public let maxAge: Int?
  /// For how many seconds the server asks to be left alone.
  public let retryAfter: Int?
  /// The URL that answered, after redirects, as it is shown.
  public let effectiveURL: String
  /// The body, decompressed if it was compressed.
  public let body: any ByteSource
  /// The body as it came, where it was downloaded.
  public let spool: BodySpool?
  /// How near to this machine a URL may be that this answer names.
  public let reach: AddressKind
  private let transfer: HTTPTransfer

  init(_ transfer: HTTPTransfer, now: Timestamp, spool: BodySpool? = nil) {
    let headers = transfer.headers
    self.spool = spool
    reach = transfer.reach
    status = headers.status
    validators = FeedValidators(
      etag: FeedValidators.usable(headers.value("etag")),
      lastModified: FeedValidators.usable(headers.value("last-modified")))
    lastModified = headers.date("last-modified")
    date = headers.date("date")
    maxAge = headers.maxAge
    retryAfter = headers.retryAfter(now: now)
    effectiveURL = transfer.effectiveURL
    body = DecompressingSource(spool ?? HTTPSource(transfer), name: "\"\(transfer.name)\"")
    self.transfer = transfer
  }

  /// The `ETag` header, as it was.
  public var etag: String? { validators.etag }

  /// Whether nothing has changed since the validators' version (304): there is no body.
  public var isNotModified: Bool { status == 304 }

  /// Whether the service says that it has no data (204): there is no body.
  public var isEmpty: Bool { status == 204 }

  /// How many bytes of the body have come over the wire so far, compressed as they were.
  public var bytesReceived: Int { transfer.bytesReceived }
}
