public import CommandLine
internal import EmbeddedPostgres
internal import Postgres
internal import QuakeModel

/// An error as it is reported to the user, with its exit status.
public struct Failure {
  /// What failed, on what, and why.
  public let message: String
  /// More about it.
  public let detail: String?
  /// What to do next.
  public let hint: String?
  /// The exit status.
  public let status: ExitStatus

  /// A failure of the given parts.
  public init(
    _ status: ExitStatus, _ message: String, detail: String? = nil, hint: String? = nil
  ) {
    self.status = status
    self.message = message
    self.detail = detail
    self.hint = hint
  }

  /// The report for an error of the libraries; nil for any other error.
  public init?(_ error: any Error) {
    switch error {
    case let error as StoreError:
      let status: ExitStatus =
        switch error.kind {
        case .schema: .schema
        case .badData, .token: .badData
        case .unknownFeed: .usage
        case .replaced, .locked: .tryLater
        case .inconsistent: .internal
        }
      self.init(status, error.message, detail: error.detail, hint: error.hint)
    case let error as EmbeddedServerError:
      let status: ExitStatus =
        switch error.kind {
        case .unavailable: .unavailable
        case .tryLater: .tryLater
        case .notAllowed: .notAllowed
        case .configuration: .schema
        }
      self.init(
        status, error.message, detail: error.detail.isEmpty ? nil : error.detail,
        hint: error.hint.isEmpty ? nil : error.hint)
    case let error as PostgresError: self.init(postgres: error)
    default: return nil
    }
  }

  private init(postgres error: PostgresError) {
    let status: ExitStatus
    var hint = error.hint
    switch (error.kind, error.sqlState) {
    case (.connection, _), (.timeout, _):
      status = .unavailable
      hint =
        hint
        ?? "Check that the server runs and that --database or DATABASE_URL names it; without them the embedded server is used."
    // The tool was asked to stop while another session held a lock.
    case (.interrupted, PostgresError.cancelled): status = .tryLater
    case (.interrupted, _): status = .ok
    case (.tooLarge, _): status = .failed
    case (.server, "42501"): status = .notAllowed
    case (.server, "42P01"), (.server, "42703"), (.server, "42883"), (.server, "3F000"):
      status = .schema
      hint = hint ?? "Run \"quake-admin migrate\" on this database."
    case (.server, "53100"):
      status = .unavailable
      hint =
        hint ?? "The server's disk is full. Nothing was stored; free space and repeat the command."
    case (.server, let state) where state.hasPrefix("53") || state.hasPrefix("57P"):
      status = .unavailable
    case (.server, "25006"):
      status = .notAllowed
      hint = hint ?? "This server is read-only, perhaps a standby. Name the primary."
    case (.server, "55P03"), (.server, "40001"), (.server, "40P01"): status = .tryLater
    case (.server, _): status = .failed
    }
    let state =
      error.sqlState.isEmpty || error.kind == .interrupted ? "" : " (SQLSTATE \(error.sqlState))"
    self.init(status, error.message + state, detail: error.detail, hint: hint)
  }
}
