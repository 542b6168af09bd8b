public import Basics
public import QuakeModel

/// An HTTP response whose headers have arrived and whose body can be read. Reads wait for the network, within the limits of
/// `FeedClient.Options`, if the body was not downloaded. Release it to cancel the transfer.
public struct FeedResponse {
  /// 200; 204 (the FDSN services' "no data": an empty result, with nothing in `body`); or 304.
  public let status: Int
  /// The validators for the next request, from `ETag` and `Last-Modified`.
  public let validators: FeedValidators
  /// The `Last-Modified` header as an instant.
  public let lastModified: Timestamp?
  /// The `Date` header as an instant, by the server's clock.
  public let date: Timestamp?
  /// The seconds for which the feed is fresh, during which a poll is useless: from `Cache-Control`, else from
  /// `Expires` and `Date`.
  public let maxAge: Int?
  /// The seconds of `Retry-After`, if any.
  public let retryAfter: Int?
  /// The new address of the feed if its server redirects there for good, or to another host; without secrets.
  public let newAddress: String?
  /// The body, decompressed if it was compressed.
  public let body: any ByteSource
  /// The spool with the body as received, if it was downloaded.
  public let spool: BodySpool?
  /// How near to this machine a URL in this answer may be.
  public let reach: AddressKind
  /// How far the body has been read, if it was not downloaded before.
  public let measure: MeasuredSource?

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
    newAddress = transfer.newAddress
    let measure =
      spool == nil
      ? MeasuredSource(transfer, size: headers.value("content-length").flatMap { Int64($0) }) : nil
    self.measure = measure
    let received: (any ByteSource)? = spool ?? measure
    body = DecompressingSource(
      received ?? transfer, name: "\"\(transfer.name)\"", limit: transfer.maximumBodyBytes)
  }

  /// Whether the feed has not changed since the version of the validators (304). There is no body.
  public var isNotModified: Bool { status == 304 }

  /// Whether the service reports that it has no data (204). There is no body.
  public var isEmpty: Bool { status == 204 }
}

/// The validators of the last version of a feed, so that the server need not send it again.
public struct FeedValidators: Sendable, Hashable {
  /// The `ETag` header, unchanged.
  public var etag: String?
  /// The `Last-Modified` header, unchanged.
  public var lastModified: String?

  /// The most bytes of a validator, because they are stored and sent with each request.
  static let maximumBytes = 1024

  /// A header's value, or nil if it exceeds the limit.
  static func usable(_ value: String?) -> String? {
    value.flatMap { $0.utf8.count <= maximumBytes ? $0 : nil }
  }

  /// The validators of a version fetched before.
  public init(etag: String? = nil, lastModified: String? = nil) {
    self.etag = etag
    self.lastModified = lastModified
  }
}

extension HTTPHeaders {
  /// The seconds for which the response is fresh: `Cache-Control: max-age`, else from `Date` to `Expires`.
  var maxAge: Int? {
    for part in (value("cache-control") ?? "").split(separator: ",") {
      let directive = Self.trim(part).lowercased()
      if directive == "no-store" || directive == "no-cache" { return 0 }
      if directive.hasPrefix("max-age=") {
        let digits = directive.dropFirst("max-age=".count).filter { $0 != "\"" }
        if let seconds = Int(digits), seconds >= 0 { return seconds }
      }
    }
    guard let expires = value("expires"), let date = date("date") else { return nil }
    // A value that is not a date, such as 0, means that the response has already expired.
    guard let instant = HTTPDate.time(expires) else { return 0 }
    return max(0, Int((instant.microseconds - date.microseconds) / 1_000_000))
  }
}
