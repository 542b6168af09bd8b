import TestSupport

/// The servers that roles are tested on: what a role may do differs between versions of PostgreSQL.
enum ServerVersion: String, Sendable, CaseIterable, CustomStringConvertible {
  /// The one that all tests use.
  case main
  /// The one that QUAKE_PG18_BIN names.
  case other

  /// Those that are there.
  static var present: [ServerVersion] { TestServer.other == nil ? [.main] : [.main, .other] }

  /// In `make soak` those that are there, otherwise the first: for what the privileges of roles lead to, which
  /// `PrivilegeMatrixTests` compares on each version.
  static var usual: [ServerVersion] { Tools.isSoak ? present : [.main] }

  var server: TestServer { self == .other ? TestServer.other ?? .shared : .shared }
  var description: String { rawValue }
}
