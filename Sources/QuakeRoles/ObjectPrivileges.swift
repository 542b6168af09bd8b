/// A row of the table of privileges: who may do what with an object.
public struct ObjectPrivileges: Sendable {
  /// What roles are granted.
  public struct Grant: Sendable {
    /// The privilege.
    public let privilege: Privilege
    /// The roles that have it; not the owner, who may do everything.
    public let roles: [Role]
    /// The columns it is limited to; nil: it is on the whole object.
    public let columns: [String]?
  }

  /// The object.
  public let object: SecuredObject
  /// Who may do what with it.
  public let grants: [Grant]
  /// What PUBLIC may have without harm: a function that runs with its caller's rights gives nobody
  /// anything.
  public let harmlessForPublic: [Privilege]
  /// Whether whoever writes it, or executes it, changes or forges the history.
  public let isHistory: Bool

  /// Whether a role is granted a privilege on the whole object.
  public func grants(_ privilege: Privilege, to role: Role) -> Bool {
    grants.contains {
      $0.privilege == privilege && $0.columns == nil && $0.roles.contains(role)
    }
  }

  /// The columns that a role's privilege is limited to; none: it has the privilege on no column, or on
  /// all of them.
  public func columns(_ privilege: Privilege, for role: Role) -> [String] {
    grants.first {
      $0.privilege == privilege && $0.columns != nil && $0.roles.contains(role)
    }?.columns ?? []
  }
}
