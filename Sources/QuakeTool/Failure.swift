package import Basics
package import CommandLine
internal import EmbeddedPostgres
internal import Postgres
internal import QuakeSchema

/// An error as it is reported to the user, with its exit status.
package struct Failure {
  package let message: String
  package let detail: String?
  package let hint: String?
  package let status: ExitStatus
  /// The statement that failed, without its values.
  private let statement: String?

  package init(
    _ status: ExitStatus, _ message: String, detail: String? = nil, hint: String? = nil,
    statement: String? = nil
  ) {
    self.status = status
    self.statement = statement
    self.message = message
    self.detail = detail
    self.hint = hint
  }

  /// The report for an error of the libraries; nil for any other error.
  package init?(_ error: any Error) {
    guard let error = error as? any ExplainedError else { return nil }
    var message = error.message
    var hint = error.hint
    if let error = error as? PostgresError {
      if let full = DatabaseAccess.fullDisk(after: error) {
        self.init(ExitStatus(error.category), full.message, detail: full.detail, hint: full.hint)
        return
      }
      if !error.sqlState.isEmpty, error.kind != .interrupted {
        message += " (SQLSTATE \(error.sqlState))"
      }
      hint = hint ?? Self.advice(on: error)
    }
    self.init(
      ExitStatus(error.category), message, detail: error.detail, hint: hint,
      statement: (error as? PostgresError)?.statement)
  }

  /// Prints it as an error of the tool, with `--verbose` also the statement.
  ///
  /// - Parameter subject: What the error is about, where the tool handles several files or feeds.
  package func report(about subject: String? = nil, to diagnostics: Diagnostics) {
    diagnostics.error(
      subject.map { "\($0): \(message)" } ?? message, detail: detail,
      hints: hint.map { [$0] } ?? [], fields: ["status": .integer(Int64(status.rawValue))])
    if let statement { diagnostics.verbose("the statement was: \(statement)") }
  }

  /// What to do about an error for which neither the server nor libpq has a hint.
  private static func advice(on error: PostgresError) -> String? {
    if let advice = RoleAdvice.hint(for: error) { return advice }
    return switch (error.kind, error.sqlState) {
    case (.connection, _), (.timeout, _):
      """
      Check that the server runs and has the role, and that --database, DATABASE_URL, ~/.config/quake/config or \
      /etc/quake/config names it; without them the embedded server is used.
      """
    case (.server, SQLState.undefinedTable), (.server, SQLState.undefinedColumn),
      (.server, SQLState.undefinedFunction), (.server, SQLState.invalidSchemaName):
      // The schema had the version of this program when it connected, so a migration would change nothing.
      """
      The schema lacks something that this program uses: it was changed by hand, or migrated while the program ran. \
      "quake-admin migrate --status" compares it with that program's.
      """
    case (.server, SQLState.diskFull):
      "The server's disk is full. Nothing was stored; free space and repeat the command."
    case (.server, SQLState.readOnlyTransaction):
      """
      If this server is a standby, name the primary; else transactions are read-only by default, and "quake-admin \
      doctor" names the setting.
      """
    default: nil
    }
  }
}

extension ExitStatus {
  /// The status of a tool that ends because of such an error.
  init(_ category: ErrorCategory) {
    self =
      switch category {
      case .usage: .usage
      case .badData: .badData
      case .unavailable: .unavailable
      case .tryLater: .tryLater
      case .notAllowed: .notAllowed
      case .schema: .schema
      case .internal: .internal
      case .interrupted: .ok
      case .failed: .failed
      }
  }
}

/// A file that a tool cannot read or write.
package struct FileError: ExplainedError {
  package let message: String
  package let detail: String?
  package var category: ErrorCategory { .failed }

  /// An error with what failed, on which file, and why.
  package init(_ message: String, detail: String? = nil) {
    self.message = message
    self.detail = detail
  }
}
