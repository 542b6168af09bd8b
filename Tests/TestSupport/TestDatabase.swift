import Glibc
public import Postgres
import QuakeStore
import Synchronization

/// A database of a test's own, migrated, empty, and dropped with the last reference to it.
public final class TestDatabase: Sendable {
  private static let counter = Atomic<Int>(0)

  /// Its name.
  public let name: String
  /// How to reach it.
  public let conninfo: String

  /// A new database: a copy of the migrated template, or an empty one.
  public init(migrated: Bool = true) throws {
    let number = Self.counter.add(1, ordering: .relaxed).newValue
    name = "test_\(getpid())_\(number)"
    conninfo = TestServer.conninfo(TestServer.shared.server, database: name)
    let admin = try Self.administrator()
    let template = migrated ? "quake_template" : "template1"
    try admin.execute(SQL(trusted: "create database \(name) template \(template)"))
  }

  deinit {
    _ = try? Self.administrator().execute(
      SQL(trusted: "drop database if exists \(name) with (force)"))
  }

  private static func administrator() throws -> Connection {
    try Connection(
      ConnectionSettings(TestServer.shared.server.conninfo, applicationName: "tests"))
  }

  /// A new connection to it.
  public func connect(applicationName: String = "tests") throws -> Connection {
    try Connection(ConnectionSettings(conninfo, applicationName: applicationName))
  }
}
