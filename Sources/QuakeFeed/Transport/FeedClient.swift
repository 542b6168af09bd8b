import Basics
import QuakeModel

/// Fetches feeds over HTTP, and reuses connections.
///
/// A client has one owner, which uses it and all its responses from one thread at a time. It follows
/// redirects only to http and https. Unless an option permits it, it never follows a redirect from https to
/// http, or to an address that is nearer to this machine than the redirecting server. It verifies
/// certificates. libcurl reads its proxy settings (`http_proxy`, `no_proxy`, ...) from the environment.
public final class FeedClient {
  /// How feeds are fetched.
  public struct Options {
    /// The `User-Agent` header.
    public var userAgent: String
    /// The time limit for a connection, including name resolution and TLS, in milliseconds.
    public var connectTimeoutMilliseconds = 15_000
    /// The longest time without data while the client waits for it, in milliseconds.
    public var stallTimeoutMilliseconds = 30_000
    /// The least rate in bytes a second, after the first byte, over any `rateWindowMilliseconds`.
    public var minimumRate = 500
    /// The time over which the rate is measured, at least `stallTimeoutMilliseconds`.
    public var rateWindowMilliseconds = 30_000
    /// The longest time of a download, not counting pauses of its reader; nil for no limit.
    public var downloadTimeoutMilliseconds: Int? = 600_000
    /// The longest time from the request to the end of the body, with the pauses of its reader; nil for no limit.
    public var totalTimeoutMilliseconds: Int?
    /// The most bytes of a body, as it is received.
    public var maximumBodyBytes = FeedReader.longestPolled
    /// Whether redirects are followed from https to http, and to an address that is nearer to this
    /// machine than the server that redirects: loopback, link-local, private.
    public var trustsRedirects = false
    /// Whether libcurl may use a proxy from the environment. The client then does not see the address of the
    /// server, and checks only literal addresses in redirects.
    public var mayUseProxy = false
    /// The most redirects that are followed.
    public var maximumRedirects = 5
    /// A PEM file with the certificate authorities to trust instead of the system's.
    public var certificateAuthorityFile: String?
    /// Called at least every 250 ms while waiting; if it returns true, the call throws
    /// `FeedError.Code.interrupted`.
    public var interrupt: (() -> Bool)?
    /// Determines the kind of an address. Tests replace it, because all their addresses are loopback ones.
    var addressKind: (String) -> AddressKind? = { AddressKind($0) }

    /// The defaults, for a program of the given version.
    public init(version: String, interrupt: (() -> Bool)? = nil) {
      self.init(userAgent: "quake/\(version)", interrupt: interrupt)
    }

    /// The defaults, for a program that names itself; control characters are removed.
    public init(userAgent: String, interrupt: (() -> Bool)? = nil) {
      self.userAgent = String(
        userAgent.unicodeScalars.filter { (" "..."~").contains($0) }.map(Character.init))
      self.interrupt = interrupt
    }
  }

  private let options: Options
  private let loop = CurlLoop()

  /// A client without a connection yet.
  public init(options: Options) {
    self.options = options
  }

  /// Requests a feed, and returns when the headers have arrived, before the body.
  ///
  /// Returns for the statuses 200 and 204, and for 304 if there are validators. Every other status throws
  /// `.httpStatus` with `status` and `retryAfter`. A failed connection, a timeout or a bad certificate throws
  /// an error of kind `.unavailable`.
  ///
  /// - Parameter validators: The validators of the stored version, so that the server can answer 304.
  public func open(
    url: FeedURL, validators: FeedValidators? = nil
  ) throws(FeedError) -> FeedResponse {
    let transfer = try HTTPTransfer(
      url: url, validators: validators, options: options, loop: loop)
    try transfer.waitForHeaders()
    do throws(FeedError) {
      return try Self.response(transfer)
    } catch {
      // With these statuses some services say, in the body, that nothing matches a query.
      guard error.status == 400 || error.status == 404 else { throw error }
      throw error.quoting(transfer.readErrorText())
    }
  }

  /// The answer of a transfer whose headers have arrived.
  static func response(
    _ transfer: HTTPTransfer, spool: BodySpool? = nil
  ) throws(FeedError) -> FeedResponse {
    let response = FeedResponse(transfer, now: .now(), spool: spool)
    if response.isNotModified, !transfer.isConditional { throw .unconditional(transfer.name) }
    guard [200, 204, 304].contains(response.status) else {
      throw FeedError.http(
        status: response.status, retryAfter: response.retryAfter, url: transfer.name)
    }
    return response
  }
}
