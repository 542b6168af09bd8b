internal import EmbeddedPostgres
import Glibc
public import Postgres
import Synchronization

/// A database of a test's own, migrated, empty, and dropped with the last reference to it.
public final class TestDatabase: Sendable {
  private static let counter = Atomic<Int>(0)

  /// Its name.
  public let name: String
  /// How to reach it.
  public let conninfo: String

  private let server: TestServer

  /// A new database: a copy of the migrated template, or an empty one.
  public convenience init(migrated: Bool = true, on server: TestServer = .shared) throws {
    try self.init(template: migrated ? "quake_template" : "template1", on: server)
  }

  /// A copy of a database that has no sessions.
  public convenience init(copying other: TestDatabase) throws {
    try self.init(template: other.name, on: other.server)
  }

  private init(template: String, on server: TestServer) throws {
    self.server = server
    let number = Self.counter.add(1, ordering: .relaxed).newValue
    name = "test_\(getpid())_\(number)"
    conninfo = TestServer.conninfo(server.server, database: name)
    let admin = try Self.administrator(of: server)
    try admin.execute(SQL(trusted: "create database \(name) template \(template)"))
  }

  deinit {
    _ = try? Self.administrator(of: server).execute(
      SQL(trusted: "drop database if exists \(name) with (force)"))
  }

  private static func administrator(of server: TestServer) throws -> Connection {
    try Connection(
      ConnectionSettings(server.server.conninfo, applicationName: "tests"))
  }

  /// A new connection to it.
  public func connect(applicationName: String = "tests") throws -> Connection {
    try Connection(ConnectionSettings(conninfo, applicationName: applicationName))
  }
}
