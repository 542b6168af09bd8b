import CLibcurl
import Glibc
import QuakeModel

/// Fetches feeds over HTTP and keeps the connections for the next time.
///
/// A client has one owner; it and all its responses are used from one thread at a time. Redirects
/// are followed to http and https only, never from https to http, and never to an address that is nearer
/// to this machine than the server that redirects, unless the options say so; certificates are verified, and
/// what libcurl itself takes from the environment (`http_proxy`, `no_proxy` and their kin) holds.
public final class FeedClient {
  /// How feeds are fetched.
  public struct Options {
    /// What the client calls itself.
    public var userAgent: String
    /// How long to wait for a connection, with name resolution and TLS: milliseconds.
    public var connectTimeoutMilliseconds = 15_000
    /// For how long nothing may come while one waits for it: milliseconds.
    public var stallTimeoutMilliseconds = 30_000
    /// How many bytes a second have to come, once anything has, over any `rateWindowMilliseconds`.
    public var minimumRate = 500
    /// Over how long the rate is measured; at least over `stallTimeoutMilliseconds`.
    public var rateWindowMilliseconds = 30_000
    /// How long all of a download may take, while somebody waits for it; nil: as long as it likes.
    public var downloadTimeoutMilliseconds: Int? = 600_000
    /// The most bytes that the body of a download may have, as it comes over the wire.
    public var maximumBodyBytes = 256 << 20
    /// Whether redirects are followed from https to http, and to an address that is nearer to this
    /// machine than the server that redirects: loopback, link-local, private.
    public var trustsRedirects = false
    /// Whether libcurl may find a proxy in the environment. Then nobody here sees which address is
    /// connected to, and only those are judged that a redirect spells out.
    public var mayUseProxy = false
    /// How many redirects are followed.
    public var maximumRedirects = 5
    /// A PEM file with the certificate authorities to trust instead of the system's.
    public var certificateAuthorityFile: String?
    /// Asked at least every 250 ms while waiting; when it says true, the call ends in
    /// `FeedError.Code.interrupted`.
    public var interrupt: (() -> Bool)?
    /// The kind of an address; another one in tests, where all are loopback's.
    var addressKind: (String) -> AddressKind? = { AddressKind($0) }

    /// The defaults, for a program of the given version.
    public init(version: String, interrupt: (() -> Bool)? = nil) {
      userAgent = "quake/\(version)"
      self.interrupt = interrupt
    }
  }

  private let options: Options
  private let multi = CurlMulti()

  /// A client without a connection yet.
  public init(options: Options) {
    self.options = options
  }

  /// Asks for a feed; returns when the headers are here, before the body.
  ///
  /// 200, 204 and 304 are answers, every other status throws `.httpStatus` with `status` and
  /// `retryAfter`. No connection, no answer in time or a bad certificate throw too; `kind` is then
  /// `.unavailable`.
  ///
  /// - Parameter validators: of the version one has, to be spared the same again (304).
  public func open(
    url: FeedURL, validators: FeedValidators? = nil
  ) throws(FeedError) -> FeedResponse {
    let transfer = try HTTPTransfer(
      url: url, validators: validators, options: options, multi: multi)
    try transfer.waitForHeaders()
    return try Self.response(transfer)
  }

  /// The same, of a URL as a text.
  public func open(
    url: String, validators: FeedValidators? = nil
  ) throws(FeedError) -> FeedResponse {
    try open(url: FeedURL(url), validators: validators)
  }

  /// The answer of a transfer whose headers have come.
  static func response(
    _ transfer: HTTPTransfer, spool: BodySpool? = nil
  ) throws(FeedError) -> FeedResponse {
    let response = FeedResponse(transfer, now: .now(), spool: spool)
    guard [200, 204, 304].contains(response.status) else {
      throw FeedError.http(
        status: response.status, retryAfter: response.retryAfter, url: transfer.name)
    }
    return response
  }
}
