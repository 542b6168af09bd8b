import CommandLine
import Postgres
import QuakeHistory
import QuakeSchema
import QuakeTool
import QuakeWorker

/// One thing that "quake-admin doctor" examines: its name, and how it is queried and judged.
struct DoctorCheck: Sendable {
  let name: String
  let examine: @Sendable (Patient) throws -> Finding

  struct Patient {
    let connection: Connection
    /// Opens another connection to it.
    let another: () throws(PostgresError) -> Connection
    let roles: RoleNames
    let limits: Limits
    /// Whether the embedded server holds the database, which only its account uses.
    let isEmbedded: Bool
    /// Whether the server is a hot standby, which takes no statement that changes something.
    let isStandby: Bool
    /// What "quake-admin status" knows; or why this role, or a lock, keeps it from knowing.
    let report: Result<StatusReport, PostgresError>

    /// The state of the store; nil if this role may not read it, or its schema is not that of this program.
    var store: StoreStatus? { try? report.get().store }

    /// The option of commands about roles whose names have another beginning than usual.
    var prefixOption: String {
      roles.prefix == RoleNames.standardPrefix ? "" : " --prefix \(roles.prefix)"
    }

    /// The end of a sentence that tells to change something.
    var there: String { isStandby ? " on the primary" : "" }
  }

  /// The limits beyond which a state needs attention.
  struct Limits {
    /// The longest time that a transaction may be open.
    var transaction = Duration.seconds(3600)
    var standbyLag = Duration.seconds(60)
    /// How many bytes of WAL a slot or a standby may hold back.
    var retainedWAL: Int64 = 1 << 30
  }

  /// What was found, and what to do about it.
  struct Finding {
    let state: State
    let found: String
    let next: String?

    static func ok(_ found: String) -> Finding { Finding(state: .ok, found: found, next: nil) }

    static func warning(_ found: String, _ next: String) -> Finding {
      Finding(state: .warning, found: found, next: next)
    }

    static func problem(_ found: String, _ next: String) -> Finding {
      Finding(state: .problem, found: found, next: next)
    }

    static func unseen(_ found: String, _ next: String) -> Finding {
      Finding(state: .unseen, found: found, next: next)
    }
  }

  enum State: String, CaseIterable {
    case ok, warning, problem
    /// The role, or a connection as such, does not show it.
    case unseen = "not seen"
  }

  init(_ name: String, _ examine: @escaping @Sendable (Patient) throws -> Finding) {
    self.name = name
    self.examine = examine
  }

  /// Examines it. What the role may not see, and what another session has locked, is a finding.
  func finding(_ patient: Patient) throws -> Finding {
    do {
      return try examine(patient)
    } catch let error as PostgresError where error.kind == .server {
      switch error.sqlState {
      case SQLState.insufficientPrivilege: return .unseen(error.message, Self.seeing(patient))
      case SQLState.lockNotAvailable:
        return .unseen(
          "another session holds a lock that this needs",
          "Repeat the command; \"quake-admin status\" names the session.")
      default:
        return .warning(
          "could not be examined: \(error.message)",
          """
          Repeat the command. If the message is the same, look for limits that are set for the database or the role, \
          such as statement_timeout or temp_file_limit, and at the server's log.
          """)
      }
    }
  }

  /// The roles that see everything.
  static func seeing(_ patient: Patient) -> String {
    "Connect as \(patient.roles.name(.monitor)), another member of pg_monitor, or a superuser."
  }

  /// All checks, in the order in which they are printed: what the others stand on comes first.
  static let all = server + replication + contents
}

extension DoctorCheck.Patient {
  /// Whether the role sees what other sessions do.
  func seesSessions() throws -> Bool {
    try connection.row("select pg_has_role('pg_read_all_stats', 'usage')", as: Bool.self)
  }

  /// At most three of several names, and the number of the others.
  static func list(_ names: [String]) -> String {
    let shown = names.prefix(3).joined(separator: ", ")
    return names.count > 3 ? "\(shown) and \(names.count - 3) more" : shown
  }
}
