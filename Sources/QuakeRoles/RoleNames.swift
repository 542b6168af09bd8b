/// The names that the roles have on a server.
public struct RoleNames: Sendable {
  /// What each name begins with.
  public let prefix: String

  /// What names begin with unless said otherwise.
  public static let standardPrefix = "quake_"

  /// Names that begin with `prefix`; nil if that is not of lower-case letters, digits and `_`, too long,
  /// or PostgreSQL's own (`pg_`).
  public init?(prefix: String = standardPrefix) {
    let first = prefix.utf8.first.map { ($0 >= 0x61 && $0 <= 0x7A) || $0 == 0x5F } ?? false
    let rest = prefix.utf8.allSatisfy {
      ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x5F
    }
    guard first, rest, prefix.utf8.count <= 40, !prefix.hasPrefix("pg_") else { return nil }
    self.prefix = prefix
  }

  /// The name of a role. It needs no quotes in SQL, but for words of SQL's own, which it never is.
  public func name(_ role: Role) -> String { prefix + role.rawValue }

  /// The role of that name; nil: it is none of ours.
  public func role(named name: String) -> Role? {
    Role.allCases.first { self.name($0) == name }
  }

  var all: [String] { Role.allCases.map(name) }
}
