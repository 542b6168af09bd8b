/// The servers on which tests of roles and of attacks run: what PostgreSQL allows differs between its versions.
package enum ServerVersion: String, Sendable, CaseIterable, CustomStringConvertible {
  /// The one that all tests use.
  case main
  /// The one that QUAKE_PG18_BIN names.
  case other

  /// Those that are there.
  package static var present: [ServerVersion] {
    TestServer.other == nil ? [.main] : [.main, .other]
  }

  /// In `make soak` those that are there, otherwise the first: for what the privileges of roles lead to, which
  /// `PrivilegeMatrixTests` compares on each version.
  package static var usual: [ServerVersion] { Tools.isSoak ? present : [.main] }

  /// The server itself.
  package var server: TestServer { self == .other ? TestServer.other ?? .shared : .shared }
  package var description: String { rawValue }
}
