/// The names that the roles have on a server.
public struct RoleNames: Sendable {
  /// The beginning of each name.
  public let prefix: String

  /// The default prefix.
  public static let standardPrefix = "quake_"

  /// Names that begin with `prefix`; nil if it has other characters than lower-case letters, digits and `_`,
  /// is too long, or begins with `pg_`, which PostgreSQL reserves.
  public init?(prefix: String = standardPrefix) {
    let first = prefix.utf8.first.map { ($0 >= 0x61 && $0 <= 0x7A) || $0 == 0x5F } ?? false
    let rest = prefix.utf8.allSatisfy {
      ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x5F
    }
    guard first, rest, prefix.utf8.count <= 40, !prefix.hasPrefix("pg_") else { return nil }
    self.prefix = prefix
  }

  /// The name of a role. It needs no quotes in SQL.
  public func name(_ role: Role) -> String { prefix + role.rawValue }

  /// The role of that name; nil if it is not one of Quake's.
  public func role(named name: String) -> Role? {
    Role.allCases.first { self.name($0) == name }
  }

  var all: [String] { Role.allCases.map(name) }
}
