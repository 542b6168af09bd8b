import Basics
import QuakeFeed

/// Why a backfill failed.
struct BackfillFailure: ExplainedError {
  let category: ErrorCategory
  let message: String
  let detail: String?
  let hint: String?

  init(_ category: ErrorCategory, _ message: String, detail: String? = nil, hint: String) {
    self.category = category
    self.message = message
    self.detail = detail
    self.hint = hint
  }
}

extension FeedError {
  /// Whether the same request may succeed later.
  var mayPass: Bool {
    switch code {
    case .network, .timeout, .truncatedTransfer, .truncated, .truncatedGzip, .corruptGzip,
      .truncatedZstd, .corruptZstd, .emptyBody, .html, .notAFeed, .invalidJSON, .invalidXML,
      .trailingData, .missingFeatures,
      .featuresNotArray:
      true
    // A cache that answers 304 to a request without a condition may do better later.
    case .httpStatus: [304, 408, 425, 429].contains(status) || (500...599).contains(status ?? 0)
    case .errorDocument: !isRefusal
    case .invalidReference, .unknownCentre, .unknownFeed, .fileNotFound, .unreadable,
      .unsupportedFormat, .refusedXML, .featureTooLarge, .nestingTooDeep, .metadataTooLarge,
      .csvHeader, .ambiguousIdentifiers, .tls,
      .tooManyRedirects, .refusedRedirect, .bodyTooLarge, .interrupted:
      false
    }
  }

  /// Whether a service refuses a query; one possible reason is that too many events match.
  var isRefusal: Bool {
    (code == .httpStatus || code == .errorDocument) && (status == 400 || status == 413)
  }
}
