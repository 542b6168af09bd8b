public import Basics

/// An error of the store, other than those that PostgreSQL reports (`PostgresError`).
public struct StoreError: ExplainedError, Sendable {
  /// The kind of failure.
  public enum Kind: Sendable, Equatable {
    /// The schema is missing, newer than this program, or was modified.
    case schema
    /// It was asked for in a way that has no answer, such as with a negative limit.
    case usage
    /// The input cannot be imported.
    case badData
    /// A token is not valid in this history, or no longer; see `TokenProblem`.
    case token(TokenProblem)
    /// There is no feed of that name.
    case unknownFeed
    /// There is no edit of that number.
    case unknownEdit
    /// Another process has taken over from this one.
    case replaced
    /// Another process is doing the same work.
    case locked
    /// The state of the database prevents the operation; a person has to decide.
    case conflict
    /// An impossible state: a fault of the program or of the database.
    case inconsistent
  }

  /// Why a token cannot be used.
  public enum TokenProblem: String, Sendable {
    /// It is not of the form `1042.9f3ac2d1` or `0`.
    case malformed
    /// The history after it has been purged.
    case expired
    /// The history is another one: restored, failed over, or of another database; or a part of it is missing.
    case diverged
    /// There is no such transaction yet.
    case future
  }

  /// The kind of failure.
  public let kind: Kind
  /// What failed, in a few words, lower case, without a full stop.
  public let message: String
  /// More about it, in sentences.
  public let detail: String?
  /// What to do about it, in sentences.
  public let hint: String?

  /// An error of the given parts.
  public init(
    _ kind: Kind, _ message: String, detail: String? = nil, hint: String? = nil
  ) {
    self.kind = kind
    self.message = message
    self.detail = detail
    self.hint = hint
  }
}

extension StoreError {
  /// What a caller can do about it.
  public var category: ErrorCategory {
    switch kind {
    case .schema: .schema
    case .badData, .token, .unknownEdit: .badData
    case .usage, .unknownFeed: .usage
    case .replaced, .locked: .tryLater
    case .conflict: .failed
    case .inconsistent: .internal
    }
  }
}

/// The SQLSTATEs of the schema's own functions; docs/schema.md lists them.
public enum StoreState {
  /// A token is not of the form of one.
  public static let malformedToken = "QK001"
  /// The history after a token has been purged.
  public static let expiredToken = "QK002"
  /// A token is of another history.
  public static let divergedToken = "QK003"
  /// A token is of a transaction that does not exist yet.
  public static let futureToken = "QK004"
  /// No worker polls a feed of that name.
  public static let unknownFeed = "QK005"
  /// An import inserts an event that was deleted.
  public static let deletedEvent = "QK006"
}
