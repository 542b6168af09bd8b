package import Basics

/// A server of `quake-serve` could not be followed.
package struct ServerError: ExplainedError, Sendable {
  /// The kind of failure.
  package enum Kind: Sendable, Equatable {
    /// libcurl is missing, or too old.
    case noLibrary
    /// The server could not be reached, the connection was lost, or a proxy has no server at the moment.
    case unavailable
    /// The server has sent nothing for too long.
    case silent
    /// The address leads to something other than a `quake-serve`.
    case wrongAddress
    /// The server or a proxy in front of it wants other credentials.
    case refused
    /// The server rejects the request.
    case rejected
    /// The server sent something that is no stream of changes.
    case badAnswer
    /// The caller asked to stop.
    case interrupted
  }

  /// The kind of failure.
  package let kind: Kind
  /// What failed, in a few words, lower case, without a full stop.
  package let message: String
  /// More about it, in sentences.
  package let detail: String?
  /// What to do about it, in sentences.
  package let hint: String?
  /// How long the server asks to wait before the next request.
  package let retryAfter: Duration?

  init(
    _ kind: Kind, _ message: String, detail: String? = nil, hint: String? = nil,
    retryAfter: Duration? = nil
  ) {
    self.kind = kind
    self.message = message
    self.detail = detail
    self.hint = hint
    self.retryAfter = retryAfter
  }

  /// Whether the same request may succeed later.
  package var isTransient: Bool { kind == .unavailable || kind == .silent }
}

extension ServerError {
  /// What a caller can do about it.
  package var category: ErrorCategory {
    switch kind {
    case .noLibrary: .schema
    case .unavailable, .silent: .unavailable
    case .wrongAddress: .usage
    case .refused: .notAllowed
    case .rejected, .badAnswer: .badData
    case .interrupted: .interrupted
    }
  }
}
