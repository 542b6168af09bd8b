import Glibc

/// The exit status of a program; the numbers above 1 are those of BSD's `sysexits.h`.
public struct ExitStatus: RawRepresentable, Sendable, Hashable {
  /// The number.
  public let rawValue: Int32

  /// Any status, such as one of another program.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Done.
  public static let ok = ExitStatus(rawValue: 0)
  /// Failed, for a reason without a number of its own.
  public static let failed = ExitStatus(rawValue: 1)
  /// The command line was wrong.
  public static let usage = ExitStatus(rawValue: 64)
  /// The input was wrong.
  public static let badData = ExitStatus(rawValue: 65)
  /// The database or the feed could not be reached.
  public static let unavailable = ExitStatus(rawValue: 69)
  /// A bug in this program.
  public static let `internal` = ExitStatus(rawValue: 70)
  /// Another program holds a lock; trying again later may work.
  public static let tryLater = ExitStatus(rawValue: 75)
  /// Not permitted.
  public static let notAllowed = ExitStatus(rawValue: 77)
  /// The database's schema is missing, newer or modified.
  public static let schema = ExitStatus(rawValue: 78)

  /// The usual meaning of the status, as a phrase for the help.
  public var meaning: String {
    switch self {
    case .ok: "done"
    case .failed: "failed"
    case .usage: "wrong usage"
    case .badData: "bad input data"
    case .unavailable: "database or feed unavailable"
    case .internal: "internal error: please report it"
    case .tryLater: "try again later: a lock is held"
    case .notAllowed: "not allowed"
    case .schema: "database schema missing, newer or modified"
    default: "status \(rawValue)"
    }
  }

  /// Ends the process with this status.
  public func exit() -> Never { Glibc.exit(rawValue) }
}
