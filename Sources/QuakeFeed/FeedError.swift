public import ExplainedErrors

/// Why a feed could not be opened, fetched or read as a whole.
///
/// What is wrong with a single event is not an error but a `FeedReject`. The parts are PostgreSQL's:
/// a primary message in lower case without a full stop, then detail and hint as sentences. No part
/// ever holds the user name or password of a URL.
public struct FeedError: ExplainedError, Sendable, Equatable {
  /// What a caller can do about an error; the tools make their exit statuses from it.
  public enum Kind: Sendable {
    /// What was asked for cannot be: exit status 64.
    case usage
    /// A feed name that nobody knows: exit status 64.
    case unknownFeed
    /// The data are not a feed, or not all of one: exit status 65.
    case badData
    /// The feed could not be had (network, HTTP status, TLS, timeout, file); it may work later:
    /// exit status 69.
    case unavailable
    /// The `interrupt` hook asked for the end.
    case interrupted
  }

  /// What happened, exactly.
  public enum Code: Sendable, CaseIterable {
    /// Neither a feed's name, nor a URL, nor a file, nor `-`; or a URL of another scheme.
    case invalidReference
    /// FDSN text, and nobody has said which data centre it is of.
    case unknownCentre
    /// Looks like a feed's name, but there is no such feed.
    case unknownFeed
    /// There is no such file.
    case fileNotFound
    /// A file or descriptor cannot be opened or read.
    case unreadable
    /// Not one byte.
    case emptyBody
    /// An HTML page, such as a portal or an error page puts in a feed's place.
    case html
    /// Neither GeoJSON, nor CSV, nor FDSN text.
    case notAFeed
    /// A format that is known, but not supported.
    case unsupportedFormat
    /// Not JSON, at a place where the rest cannot be read either.
    case invalidJSON
    /// The input ends before the feed does.
    case truncated
    /// Something follows the end of the feed.
    case trailingData
    /// A JSON object without `features`.
    case missingFeatures
    /// `features` is not an array.
    case featuresNotArray
    /// One event is larger than is allowed.
    case featureTooLarge
    /// One event is nested deeper than is allowed.
    case nestingTooDeep
    /// `metadata` is larger than is allowed.
    case metadataTooLarge
    /// A CSV header without a column that is needed, or with one twice.
    case csvHeader
    /// The gzip data are damaged.
    case corruptGzip
    /// The gzip data end too early.
    case truncatedGzip
    /// The name could not be resolved, the connection not made, or it broke.
    case network
    /// The server's certificate is not to be trusted, or TLS failed otherwise.
    case tls
    /// No connection, or no byte, in the time allowed.
    case timeout
    /// More redirects than are allowed.
    case tooManyRedirects
    /// A redirect leads to where none may lead; see `FeedClient.Options.trustsRedirects`.
    case refusedRedirect
    /// The body is longer than any feed.
    case bodyTooLarge
    /// The body is shorter than the server said.
    case truncatedTransfer
    /// The server answered with a status that is no answer; see `status`.
    case httpStatus
    /// The `interrupt` hook asked for the end.
    case interrupted
  }

  /// What happened.
  public let code: Code
  /// What failed and on what: lower case, no full stop.
  public let message: String
  /// Why, as sentences, where more is known than `message` says.
  public let detail: String?
  /// What to do next, as a sentence, where there is something.
  public let hint: String?
  /// The HTTP status, for `.httpStatus`.
  public let status: Int?
  /// For how many seconds the server asks to be left alone, where it says so.
  public let retryAfter: Int?

  /// An error of the given parts.
  public init(
    _ code: Code, _ message: String, detail: String? = nil, hint: String? = nil, status: Int? = nil,
    retryAfter: Int? = nil
  ) {
    self.code = code
    self.message = message
    self.detail = detail
    self.hint = hint ?? code.advice
    self.status = status
    self.retryAfter = retryAfter
  }

  /// What a caller can do about it.
  public var kind: Kind { code.kind }

  /// The same in the words of all modules.
  public var category: ErrorCategory {
    switch kind {
    case .usage, .unknownFeed: .usage
    case .badData: .badData
    case .unavailable: .unavailable
    case .interrupted: .interrupted
    }
  }

  /// The error for a body of more bytes than are taken; `subject` must be free of secrets.
  static func bodyTooLarge(_ subject: String, limit: Int) -> FeedError {
    FeedError(
      .bodyTooLarge, "the body of \(subject) is too long",
      detail: "It has more than \(limit) bytes, which is more than a feed that is polled may have.",
      hint: "Check the URL; \"quake-ingest import\" takes catalogues of any length.")
  }

  /// The error for an HTTP answer that is none; `url` must be free of secrets.
  static func http(status: Int, retryAfter: Int?, url: String) -> FeedError {
    let hint: String? =
      switch status {
      case 400: "Check the query; FDSN services also answer so when more than 20,000 events match."
      case 401, 403: "Check the URL's user name and password."
      case 404, 410: "Check the URL; the feed may have been moved or retired."
      case 409: "The event has been deleted from the catalogue."
      case 429, 503:
        retryAfter.map { "Try again in \($0) seconds." } ?? "Try again later, and less often."
      case 500...599: "Try again later."
      default: nil
      }
    return FeedError(
      .httpStatus, "could not fetch \"\(url)\"",
      detail: "The server answered with HTTP status \(status).", hint: hint, status: status,
      retryAfter: retryAfter)
  }
}

extension FeedError.Code {
  var kind: FeedError.Kind {
    switch self {
    case .invalidReference, .unknownCentre: .usage
    case .unknownFeed: .unknownFeed
    case .emptyBody, .html, .notAFeed, .unsupportedFormat, .invalidJSON, .truncated, .trailingData,
      .missingFeatures, .featuresNotArray, .featureTooLarge, .nestingTooDeep, .metadataTooLarge,
      .csvHeader, .corruptGzip, .truncatedGzip, .bodyTooLarge:
      .badData
    case .fileNotFound, .unreadable, .network, .tls, .timeout, .tooManyRedirects,
      .refusedRedirect, .truncatedTransfer, .httpStatus:
      .unavailable
    case .interrupted: .interrupted
    }
  }

  /// What to do where nothing better is known.
  fileprivate var advice: String? {
    switch kind {
    case .usage, .unknownFeed: "Give a feed's name, a URL, a file, or - for standard input."
    case .badData:
      "Check that this is an earthquake feed in GeoJSON, CSV or FDSN text, or fetch it again."
    case .unavailable: "Check the name, or try again later."
    case .interrupted: nil
    }
  }
}
