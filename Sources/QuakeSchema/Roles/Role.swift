/// A role of a Quake database, named after the task of its programs or persons.
package enum Role: String, CaseIterable, Sendable {
  /// Owns the schema and migrates.
  case owner
  /// Imports feeds: `quake-ingest`.
  case writer
  /// Changes events by hand: `quake-admin events`, SQL; also the worker that expires old events.
  case editor
  /// Reads: `quake-watch` without a name, `quake-query`, SQL.
  case reader
  /// Reads, and keeps its own cursor in the database: `quake-watch --name`.
  case watcher
  /// Purges the history and removes cursors.
  case purger
  /// Monitors: `quake-admin status`.
  case monitor

  package var purpose: String {
    switch self {
    case .owner: "owns the schema and migrates"
    case .writer: "imports feeds (quake-ingest), decides on quarantined snapshots"
    case .editor: "changes events by hand"
    case .reader: "reads: quake-watch, quake-query, SQL"
    case .watcher: "reads, and keeps its own cursor: quake-watch --name"
    case .purger: "purges the history and removes cursors of watchers"
    case .monitor: "monitors: quake-admin status"
    }
  }

  /// All except the owner, which needs no privileges on its own objects.
  static let granted: [Role] = [.writer, .editor, .reader, .watcher, .purger, .monitor]
  /// The roles that may read everything that is not private.
  static let readers: [Role] = [.editor, .reader, .watcher]
}

/// The names that the roles have on a server.
package struct RoleNames: Sendable {
  /// The beginning of each name.
  package let prefix: String

  package static let standardPrefix = "quake_"

  /// Names that begin with `prefix`; nil if it has other characters than lower-case letters, digits and `_`,
  /// is too long, or begins with `pg_`, which PostgreSQL reserves.
  package init?(prefix: String = standardPrefix) {
    let first = prefix.utf8.first.map { ($0 >= 0x61 && $0 <= 0x7A) || $0 == 0x5F } ?? false
    let rest = prefix.utf8.allSatisfy {
      ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x5F
    }
    guard first, rest, prefix.utf8.count <= 40, !prefix.hasPrefix("pg_") else { return nil }
    self.prefix = prefix
  }

  /// The name of a role. It needs no quotes in SQL.
  package func name(_ role: Role) -> String { prefix + role.rawValue }

  /// The role of that name; nil if it is not one of Quake's.
  package func role(named name: String) -> Role? {
    Role.allCases.first { self.name($0) == name }
  }

  var all: [String] { Role.allCases.map(name) }
}

/// The recommended settings of a role.
///
/// They limit the effects of mistakes on other roles. They do not enforce anything: a session can change all
/// of them except `temp_file_limit` and the connection limit.
package struct RoleSettings: Sendable {
  package let connectionLimit: Int
  /// Settings of the role in this database, in the order in which they are set.
  package let settings: [(name: String, value: String)]

  /// A setting that only a superuser, or a role that one has allowed to, can set.
  package static let privileged = "temp_file_limit"

  /// The recommended settings of a role. The sum of the connection limits is less than PostgreSQL's default
  /// `max_connections`.
  package static func recommended(for role: Role) -> RoleSettings {
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
