import Basics
import CommandLine
import Postgres
import QuakeModel

extension HTTPError {
  /// The answer to a client for an error that a handler threw. It leaves out what only the operator should know,
  /// such as the address of the database; the log has that.
  init(_ error: any Error) {
    switch error {
    case let error as HTTPError:
      self = error
    case let error as UsageError:
      let suggestion = error.suggestion.map { " Did you mean '\($0)'?" } ?? ""
      // Values that contradict each other are valid by themselves.
      self.init(
        error.isContradiction ? 409 : 400, Self.sentence(error.message) + suggestion)
    case let error as StoreError where Self.status(of: error) != nil:
      self.init(Self.status(of: error) ?? 500, Self.sentences(error))
    case let error as PostgresError where error.kind == .tooLarge:
      self.init(413, "The answer of the database is too large. Ask for fewer events.")
    case let error as PostgresError where error.sqlState == SQLState.queryCanceled:
      self.init(
        503, "The query took longer than the server allows. Ask for fewer events.",
        ["Retry-After": "30"])
    case let error as PostgresError where error.isTransient:
      self.init(503, "The database is not available. Try again later.", ["Retry-After": "5"])
    case let error as PostgresError where error.category == .notAllowed:
      self.init(403, "The server's role may not do this in the database.")
    case let error as any ExplainedError:
      switch error.category {
      case .usage, .badData: self.init(400, Self.sentences(error))
      case .notAllowed: self.init(403, Self.sentences(error))
      case .unavailable, .tryLater, .interrupted:
        self.init(503, Self.sentences(error), ["Retry-After": "5"])
      case .schema:
        self.init(503, "The database does not have the schema that the server needs.")
      case .internal, .failed: self.init(500, "The server failed to answer. Its log tells why.")
      }
    default:
      self.init(500, "The server failed to answer. Its log tells why.")
    }
  }

  /// The status of errors about what a client names; nil for others.
  private static func status(of error: StoreError) -> Int? {
    switch error.kind {
    case .token(.malformed), .badData: 400
    case .token(.future), .token(.diverged), .unknownFeed, .unknownEdit: 404
    case .token(.expired): 410
    case .conflict: 409
    default: nil
    }
  }

  private static func sentences(_ error: any ExplainedError) -> String {
    ([sentence(error.message)] + [error.detail, error.hint].compactMap { $0 })
      .joined(separator: " ")
  }

  private static func sentence(_ message: String) -> String {
    let first = message.prefix(1).uppercased() + message.dropFirst()
    return first + (first.hasSuffix(".") ? "" : ".")
  }
}
