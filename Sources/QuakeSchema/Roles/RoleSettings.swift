/// The recommended settings of a role.
///
/// They limit the effects of mistakes on other roles. They do not enforce anything: a session can change all
/// of them except `temp_file_limit` and the connection limit.
public struct RoleSettings: Sendable {
  /// The most concurrent connections.
  public let connectionLimit: Int
  /// Settings of the role in this database, in the order in which they are set.
  public let settings: [(name: String, value: String)]

  /// A setting that only a superuser, or a role that one has allowed to, can set.
  public static let privileged = "temp_file_limit"

  /// The recommended settings of a role. The sum of the connection limits is less than PostgreSQL's default
  /// `max_connections`.
  public static func recommended(for role: Role) -> RoleSettings {
    switch role {
    // Migrations may take long, and set their own lock timeouts.
    case .owner: RoleSettings(5, statement: nil, lock: "1min", idle: "10min", files: nil)
    // A slow download of a snapshot is one statement and one transaction.
    case .writer: RoleSettings(15, statement: "1h", lock: "5min", idle: "10min", files: "16GB")
    case .editor: RoleSettings(8, statement: "5min", lock: "1min", idle: "5min", files: "1GB")
    // A list is one statement until its reader has read it.
    case .reader: RoleSettings(30, statement: "15min", lock: "5min", idle: "5min", files: "4GB")
    case .watcher: RoleSettings(30, statement: "15min", lock: "5min", idle: "1min", files: "1GB")
    case .purger: RoleSettings(3, statement: "15min", lock: "1min", idle: "1min", files: "4GB")
    case .monitor: RoleSettings(4, statement: "1min", lock: "30s", idle: "1min", files: "256MB")
    }
  }

  private init(
    _ connectionLimit: Int, statement: String?, lock: String, idle: String, files: String?
  ) {
    self.connectionLimit = connectionLimit
    settings = [
      ("statement_timeout", statement), ("lock_timeout", lock),
      ("idle_in_transaction_session_timeout", idle), (Self.privileged, files),
    ].compactMap { name, value in value.map { (name, $0) } }
  }
}
