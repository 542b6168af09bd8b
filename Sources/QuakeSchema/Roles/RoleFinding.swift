/// A difference between the roles of a database and the table of privileges or the recommended settings.
public struct RoleFinding: Sendable {
  /// The kind of a difference.
  public enum Kind: String, Sendable {
    /// The role does not exist.
    case missingRole = "missing role"
    /// Another role owns an object of the schema.
    case wrongOwner = "wrong owner"
    /// A role, or PUBLIC, has an excess privilege.
    case tooMany = "too many"
    /// A role lacks a privilege.
    case tooFew = "too few"
    /// A recommended setting is not set.
    case missingSetting = "missing setting"
  }

  /// The change that corrects a difference.
  enum Remedy: Sendable {
    case statement(String)
    /// `columns` is empty for the whole object. `grantee` is a role's name, or `public`.
    case grant(Privilege, columns: [String], SecuredObject, to: String)
    case revoke(String, columns: [String], SecuredObject, from: String)
  }

  /// The authority that the correction needs.
  enum Authority: Sendable {
    /// A role with CREATEROLE.
    case roles
    /// The database's owner.
    case database
    /// The owner of the schema's objects.
    case objects
    /// A superuser, or a role that a superuser has allowed to set it.
    case superuser
    /// A person, who has to decide.
    case person
  }

  /// The kind of the difference.
  public let kind: Kind
  /// The name of the role on the server, or `PUBLIC`.
  public let role: String
  /// The difference, as a phrase.
  public let text: String
  /// The object; nil if the role itself differs.
  public let object: String?
  /// The privilege or the setting.
  public let item: String?
  let remedy: Remedy
  let authority: Authority

  /// Whether only a superuser, or a role that one has allowed to, can correct it.
  public var needsSuperuser: Bool { authority == .superuser }

  /// Whether `RoleMaker` corrects it. It leaves differences that need a superuser or a person's decision.
  public var isCorrectable: Bool { authority != .person && authority != .superuser }

  /// The statement that corrects it.
  public var statement: String { RoleStatements.text(of: remedy) }
}
