/// A row of the table of privileges: the privileges of the roles on one object.
public struct ObjectPrivileges: Sendable {
  /// A privilege and the roles that have it.
  public struct Grant: Sendable {
    /// The privilege.
    public let privilege: Privilege
    /// The roles that have it, except the owner, which has all privileges.
    public let roles: [Role]
    /// The columns it is limited to; nil if it applies to all columns of the object.
    public let columns: [String]?
  }

  /// The object.
  public let object: SecuredObject
  /// The privileges on it.
  public let grants: [Grant]
  /// Privileges that are harmless for PUBLIC: a function that runs with its caller's privileges gives a
  /// caller no new ones.
  public let harmlessForPublic: [Privilege]
  /// Whether a role that writes or executes it can change or forge the history.
  public let isHistory: Bool

  /// Whether a role has a privilege on all columns of the object.
  public func grants(_ privilege: Privilege, to role: Role) -> Bool {
    grants.contains {
      $0.privilege == privilege && $0.columns == nil && $0.roles.contains(role)
    }
  }

  /// The columns that a role's privilege is limited to; empty if the role has the privilege on no column, or
  /// on all.
  public func columns(_ privilege: Privilege, for role: Role) -> [String] {
    grants.first {
      $0.privilege == privilege && $0.columns != nil && $0.roles.contains(role)
    }?.columns ?? []
  }
}
