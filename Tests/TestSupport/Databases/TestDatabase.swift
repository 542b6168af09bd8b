import Glibc
package import Postgres
import Synchronization

/// A database for one test, dropped after the last reference to it is gone.
package final class TestDatabase: Sendable {
  private static let counter = Atomic<Int>(0)

  /// Its name.
  package let name: String
  /// Its connection string.
  package let conninfo: String

  private let server: TestServer
  /// The session for questions: to start one costs PostgreSQL more than most questions, and tests ask until
  /// something has happened.
  let questions = Mutex<Connection?>(nil)

  /// A new database without anything in it.
  package static func empty(on server: TestServer = .shared) throws -> TestDatabase {
    try TestDatabase(template: "template1", on: server)
  }

  /// A copy of a database that has no sessions but the one for questions.
  package convenience init(copying other: TestDatabase) throws {
    other.endQuestions()
    try self.init(template: other.name, on: other.server)
  }

  /// A copy of a database of the server that has no sessions.
  package init(template: String, on server: TestServer) throws {
    self.server = server
    let number = Self.counter.add(1, ordering: .relaxed).newValue
    name = "test_\(getpid())_\(number)"
    conninfo = TestServer.conninfo(server.server, database: name)
    try server.create(name, template: template)
  }

  deinit { server.dropLater(name) }

  /// Refuses further connections and ends those that are open, or accepts connections again.
  package func allowConnections(_ allows: Bool) throws {
    let administrator = try server.administrator()
    try administrator.execute(
      SQL(trusted: "alter database \(name) with allow_connections \(allows)"))
    guard !allows else { return }
    try administrator.execute(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [.text(name)])
  }

  /// A new connection to it.
  package func connect(applicationName: String = "tests") throws -> Connection {
    try TestServer.connect(conninfo, applicationName: applicationName)
  }

  /// A new connection of a role.
  package func connect(as role: String) throws -> Connection {
    try TestServer.connect("\(conninfo) user=\(role)", applicationName: role)
  }
}
