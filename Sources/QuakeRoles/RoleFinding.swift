/// Something about the roles of a database that is not as the table of privileges has it.
public struct RoleFinding: Sendable {
  /// What is wrong.
  public enum Kind: String, Sendable {
    /// There is no such role.
    case missingRole = "missing role"
    /// An object of the schema is somebody else's.
    case wrongOwner = "wrong owner"
    /// A role, or PUBLIC, may do more than it should.
    case tooMany = "too many"
    /// A role may do less than it should.
    case tooFew = "too few"
    /// A recommended setting is not set.
    case missingSetting = "missing setting"
  }

  /// What puts it right.
  enum Remedy: Sendable {
    case statement(String)
    /// `columns` is empty for the whole object. `grantee` is a role's name, or `public`.
    case grant(Privilege, columns: [String], SecuredObject, to: String)
    case revoke(String, columns: [String], SecuredObject, from: String)
  }

  /// Who has to put it right.
  enum Authority: Sendable {
    /// Who may make roles.
    case roles
    /// The database's owner.
    case database
    /// The owner of the schema's objects.
    case objects
    /// A superuser, or whom one has allowed to.
    case superuser
    /// A person, who has to decide.
    case nobody
  }

  /// What is wrong.
  public let kind: Kind
  /// The role it is about, by its name on the server; `PUBLIC` for all.
  public let role: String
  /// What is wrong, as a phrase.
  public let text: String
  /// What it is about; nil: the role itself.
  public let object: String?
  /// The privilege or the setting it is about.
  public let item: String?
  let remedy: Remedy
  let authority: Authority

  /// Whether only a superuser can put it right, or whom one has allowed to.
  public var needsSuperuser: Bool { authority == .superuser }

  /// The statement that puts it right.
  public var statement: String { RoleStatements.text(of: remedy) }
}
