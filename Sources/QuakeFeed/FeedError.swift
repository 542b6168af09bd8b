public import Basics

/// Why a feed could not be opened, fetched or read as a whole.
///
/// A fault of a single event is not an error but a `FeedReject`. The parts are those of PostgreSQL's errors:
/// a primary message in lower case without a full stop, then detail and hint as sentences. No part contains
/// the user name or password of a URL.
public struct FeedError: ExplainedError, Sendable, Equatable {
  /// The exact failure.
  public enum Code: Sendable, CaseIterable {
    /// Neither a feed's name, nor a URL, nor a file, nor `-`; or a URL of another scheme.
    case invalidReference
    /// FDSN text of an unknown data centre.
    case unknownCentre
    /// Looks like a feed's name, but there is no such feed.
    case unknownFeed
    case fileNotFound
    /// A file or descriptor cannot be opened or read.
    case unreadable
    case emptyBody
    /// An HTML page in place of a feed, such as that of a portal or an error page.
    case html
    /// A document in which the service reports an error, although its HTTP status is 200; see `status` and
    /// `answer`.
    case errorDocument
    /// In none of the formats that are recognised.
    case notAFeed
    /// A format that is known, but not supported.
    case unsupportedFormat
    /// Invalid JSON after which reading cannot continue.
    case invalidJSON
    /// The input ends before the feed does.
    case truncated
    case trailingData
    case missingFeatures
    case featuresNotArray
    case featureTooLarge
    case nestingTooDeep
    case metadataTooLarge
    /// A CSV header that lacks a required column, or has one twice.
    case csvHeader
    /// Two identifiers of events that lead to the same code.
    case ambiguousIdentifiers
    case invalidXML
    /// XML with a document type declaration.
    case refusedXML
    case corruptGzip
    case truncatedGzip
    /// The Zstandard data is damaged, or needs too much memory.
    case corruptZstd
    case truncatedZstd
    /// The name could not be resolved, or the connection could not be made or was lost.
    case network
    /// The server's certificate is not trusted, or TLS failed otherwise.
    case tls
    /// No connection, or no byte, within the time limit.
    case timeout
    case tooManyRedirects
    /// A redirect to an address that is not permitted; see `FeedClient.Options.trustsRedirects`.
    case refusedRedirect
    /// The body exceeds the limit of its size, expands too much when it is decompressed, becomes nothing, or goes on
    /// without an event.
    case bodyTooLarge
    /// The body is shorter than its `Content-Length`.
    case truncatedTransfer
    /// The server answered with an HTTP status other than 200, 204 and 304; see `status`.
    case httpStatus
    /// The `interrupt` hook asked for the end.
    case interrupted
  }

  /// The exact error.
  public let code: Code
  /// What failed, on which object: lower case, no full stop.
  public let message: String
  /// The cause, as sentences, if more is known than the message says.
  public let detail: String?
  /// What to do next, as a sentence, if there is advice.
  public let hint: String?
  /// The HTTP status, for `.httpStatus`; the status that the document states, for `.errorDocument`.
  public let status: Int?
  /// The seconds that the server requests to wait (`Retry-After`), if any.
  public let retryAfter: Int?
  /// The beginning of the text with which a service explains the error, if it does.
  public private(set) var answer: String?

  /// The most bytes of such a text.
  static let longestAnswer = 2048

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

  /// The same error, with the text of the service.
  func quoting(_ answer: String?) -> FeedError {
    var error = self
    error.answer = answer
    return error
  }

  /// Whether a service says in words that nothing matches a query. The standard has HTTP status 204 for that,
  /// but services also answer so with status 400, 404 or 200.
  public var saysNoData: Bool {
    guard let answer, code == .httpStatus ? status == 400 || status == 404 : category == .badData
    else { return false }
    return NoDataAnswer.matches(answer)
  }

  /// What a caller can do about it.
  public var category: ErrorCategory { code.category }

  /// The error for a body that exceeds its limit; `subject` must not contain secrets.
  static func bodyTooLarge(_ subject: String, limit: Int) -> FeedError {
    FeedError(
      .bodyTooLarge, "the body of \(subject) is too long",
      detail: "It has more than \(limit) bytes.",
      hint: "Check the URL; if the body is that long, raise --max-body.")
  }

  /// The error for a body in which no event comes.
  static func noEvents(_ subject: String, bytes: Int) -> FeedError {
    FeedError(
      .bodyTooLarge, "the body of \(subject) has no event in \(bytes >> 20) MiB",
      detail: "It may go on like this without an end: feeds have their events closer together.",
      hint: "Check the URL, and whether it leads to an earthquake feed.")
  }

  /// The error for a compressed body that becomes nothing.
  static func bodyIsBarren(_ subject: String) -> FeedError {
    FeedError(
      .bodyTooLarge, "the body of \(subject) does not become a feed",
      detail: """
        \(DecompressingSource.longestGap >> 20) MiB of compressed bytes have become nothing: empty gzip members, \
        empty Zstandard frames, or headers without an end.
        """,
      hint: "Check the URL, and how its body was compressed.")
  }

  /// The error for a compressed body that becomes too many bytes.
  static func bodyExpands(_ subject: String, from compressed: Int, to bytes: Int) -> FeedError {
    FeedError(
      .bodyTooLarge, "the body of \(subject) expands too much",
      detail: """
        \(compressed) compressed bytes became \(bytes), more than \(DecompressingSource.mostExpansion) times as \
        many: no feed compresses so well.
        """,
      hint: "Check the URL; decompress the body yourself if it is right.")
  }

  /// The error for events of which no data centre is known.
  static func unknownCentre(_ subject: String, detail: String) -> FeedError {
    FeedError(
      .unknownCentre, "cannot tell whose events \(subject) holds", detail: detail,
      hint: "Name it with --source, such as emsc or ingv.")
  }

  /// The error for a document that reports an error.
  ///
  /// - Parameters:
  ///   - status: The status that it states, if any.
  ///   - text: What it says about the error, if anything.
  static func errorDocument(_ subject: String, status: Int?, text: String?) -> FeedError {
    var parts: [String] = []
    if let status { parts.append("It states the status \(status).") }
    if let text { parts.append("It says: \(text.prefix(200))") }
    return FeedError(
      .errorDocument, "\(subject) is an error message of the service, not a feed",
      detail: parts.isEmpty ? nil : parts.joined(separator: " "), hint: "Try again later.",
      status: status
    ).quoting(text)
  }

  /// The error for a feed that is said not to have changed, although nothing was known of it.
  static func unconditional(_ url: String) -> FeedError {
    FeedError(
      .httpStatus, "could not fetch \"\(url)\"",
      detail:
        "The server answered that it has not changed (HTTP status 304), but the request had no condition.",
      hint: "A cache between here and the server may be at fault. Try again later.", status: 304)
  }

  /// The error for an HTTP status; `url` must not contain secrets.
  static func http(status: Int, retryAfter: Int?, url: String) -> FeedError {
    let hint: String? =
      switch status {
      case 400: "Check the query; FDSN services also answer so when more than 20,000 events match."
      case 401, 403: "Check the URL's user name and password."
      case 404: "Check the URL; the feed may have been moved or retired."
      case 410:
        "The server says that the feed is gone for good. Look for its new address, or stop polling it."
      case 409: "The event has been deleted from the catalogue."
      case 429, 503:
        retryAfter.map { "Try again in \($0) \($0 == 1 ? "second" : "seconds")." }
          ?? "Try again later, and less often."
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
  fileprivate var category: ErrorCategory {
    switch self {
    case .invalidReference, .unknownCentre, .unknownFeed: .usage
    case .emptyBody, .html, .errorDocument, .notAFeed, .unsupportedFormat, .invalidJSON, .truncated,
      .trailingData,
      .missingFeatures, .featuresNotArray, .featureTooLarge, .nestingTooDeep, .metadataTooLarge,
      .csvHeader, .ambiguousIdentifiers, .invalidXML, .refusedXML, .corruptGzip, .truncatedGzip,
      .corruptZstd,
      .truncatedZstd, .bodyTooLarge:
      .badData
    case .fileNotFound, .unreadable, .network, .tls, .timeout, .tooManyRedirects,
      .refusedRedirect, .truncatedTransfer, .httpStatus:
      .unavailable
    case .interrupted: .interrupted
    }
  }

  /// What to do where nothing better is known.
  fileprivate var advice: String? {
    switch category {
    case .usage: "Give a feed's name, a URL, a file, or - for standard input."
    case .badData:
      "Check that this is an earthquake feed in GeoJSON, CSV, FDSN text or QuakeML, or fetch it again."
    case .unavailable: "Check the name, or try again later."
    default: nil
    }
  }
}
