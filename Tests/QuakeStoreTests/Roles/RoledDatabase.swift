import Postgres
import QuakeSchema
import TestSupport

/// A migrated database with roles of its own: a server's roles are known in all of its databases, so
/// their names begin with the database's.
final class RoledDatabase {
  let database: TestDatabase
  let names: RoleNames
  /// As the superuser.
  let connection: Connection
  private var others: [String] = []

  init(on version: ServerVersion, makesRoles: Bool = true) throws {
    database = try TestDatabase(on: version.server)
    guard let names = RoleNames(prefix: database.name + "_") else {
      throw ToolProcess.Failure(description: "\(database.name) cannot begin a role's name")
    }
    self.names = names
    connection = try database.connect()
    if makesRoles { _ = try RoleMaker(names, over: connection).make() }
  }

  deinit {
    let all = Role.allCases.map(names.name) + others
    for role in all {
      // Sessions that a test left open would keep nothing, but objects do.
      _ = try? connection.run("drop owned by \(role) cascade")
      _ = try? connection.run("drop role \(role)")
    }
  }

  func connect(as role: Role) throws -> Connection { try connect(as: names.name(role)) }

  func connect(as role: String) throws -> Connection {
    try database.connect(as: role)
  }

  /// A role that is not one of Quake's.
  func makeRole(_ name: String, _ attributes: String = "login") throws -> String {
    let role = names.prefix + name
    try connection.run("create role \(role) \(attributes)")
    others.append(role)
    return role
  }

  /// The findings of the check, one a line.
  func findings() throws -> [String] {
    try RoleCheck.run(names, over: connection).filter { !isOfAnotherTest($0.role) }.map {
      "\($0.kind.rawValue): "
        + $0.text.replacing(names.prefix, with: "")
    }
  }

  /// Whether a test that runs at the same time has made the role. Its privileges may be those of the whole server,
  /// as with `pg_write_all_data`.
  private func isOfAnotherTest(_ role: String) -> Bool {
    role.hasPrefix("test_") && !role.hasPrefix(names.prefix)
  }
}

/// Runs statements in a transaction that is rolled back; the SQLSTATE and the message of their error.
func refusal(_ connection: Connection, _ statement: String) throws -> PostgresError? {
  try connection.run("begin")
  defer { _ = try? connection.run("rollback") }
  do throws(PostgresError) {
    try connection.executeScript(SQL(trusted: statement))
    return nil
  } catch {
    guard error.kind == .server else { throw error }
    return error
  }
}
