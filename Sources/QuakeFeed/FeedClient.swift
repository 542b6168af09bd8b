import Glibc
import QuakeModel

/// Fetches feeds over HTTP and keeps the connections for the next time.
///
/// A client has one owner; it and all its responses are used from one thread at a time. Redirects
/// are followed to http and https only, certificates are verified, and what libcurl itself takes
/// from the environment (`http_proxy`, `no_proxy` and their kin) holds.
public final class FeedClient {
  /// How feeds are fetched.
  public struct Options {
    /// What the client calls itself.
    public var userAgent: String
    /// How long to wait for a connection, with name resolution and TLS: milliseconds.
    public var connectTimeoutMilliseconds = 15_000
    /// For how long nothing may come while one waits for it: milliseconds.
    public var stallTimeoutMilliseconds = 30_000
    /// How many redirects are followed.
    public var maximumRedirects = 5
    /// A PEM file with the certificate authorities to trust instead of the system's.
    public var certificateAuthorityFile: String?
    /// Asked at least every 250 ms while waiting; when it says true, the call ends in
    /// `FeedError.Code.interrupted`.
    public var interrupt: (() -> Bool)?

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
    url: String, validators: FeedValidators? = nil
  ) throws(FeedError) -> FeedResponse {
    let transfer = try HTTPTransfer(
      url: url, validators: validators, options: options, multi: multi)
    try transfer.waitForHeaders()
    let response = FeedResponse(transfer, now: Self.now())
    guard [200, 204, 304].contains(response.status) else {
      throw FeedError.http(
        status: response.status, retryAfter: response.retryAfter, url: transfer.name)
    }
    return response
  }

  private static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}
