/// An error with message, detail and hint, like PostgreSQL's errors.
public protocol ExplainedError: Error, CustomStringConvertible {
  /// What failed, on which object: a phrase in lower case, without a full stop.
  var message: String { get }
  /// The cause, in sentences.
  var detail: String? { get }
  /// What to do next, in sentences.
  var hint: String? { get }
  /// What a caller can do about it.
  var category: ErrorCategory { get }
}

extension ExplainedError {
  /// By default nil.
  public var detail: String? { nil }

  /// By default nil.
  public var hint: String? { nil }

  /// Message, detail and hint, on a line each.
  public var description: String {
    message + (detail.map { "\ndetail: \($0)" } ?? "") + (hint.map { "\nhint: \($0)" } ?? "")
  }
}

/// What a caller can do about an error. The tools make their exit statuses from it.
public enum ErrorCategory: Sendable, Equatable {
  /// It was asked for in a wrong way, or for something that does not exist: ask otherwise.
  case usage
  /// The input cannot be used: correct it.
  case badData
  /// A server, feed or file is unavailable: check the address, or try again later.
  case unavailable
  /// Another session holds what is needed: try again later.
  case tryLater
  case notAllowed
  /// The schema, a setting or an installation does not fit this program.
  case schema
  /// A fault of the program or of the database.
  case `internal`
  case interrupted
  case failed
}
