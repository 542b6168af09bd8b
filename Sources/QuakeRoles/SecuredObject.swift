/// Something in a database that privileges are granted on.
public struct SecuredObject: Hashable, Sendable {
  /// What it is, in the word that GRANT uses.
  public enum Kind: String, Sendable {
    case database, schema, table, view, sequence, type, function

    /// The word in GRANT, which knows no views.
    var grantWord: String { self == .view ? "table" : rawValue }
  }

  /// What it is.
  public let kind: Kind
  /// Its name with its schema; a function's with the types of its arguments. The database's is empty:
  /// it is the one connected to.
  public let name: String

  /// An object.
  public init(_ kind: Kind, _ name: String) {
    self.kind = kind
    self.name = name
  }

  /// As a message names it.
  public var label: String { name.isEmpty ? kind.rawValue : "\(kind.rawValue) \(name)" }
}
