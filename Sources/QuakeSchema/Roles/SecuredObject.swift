/// An object of a database on which privileges are granted.
public struct SecuredObject: Hashable, Sendable {
  /// The kind of an object, named as in SQL.
  public enum Kind: String, Sendable {
    case database, schema, table, view, sequence, type, function

    /// The keyword in GRANT, which has none for views.
    var grantWord: String { self == .view ? "table" : rawValue }
  }

  /// The kind of the object.
  public let kind: Kind
  /// The name with its schema, and for a function with its argument types. Empty for the connected database.
  public let name: String

  /// An object.
  public init(_ kind: Kind, _ name: String) {
    self.kind = kind
    self.name = name
  }

  /// The name in messages.
  public var label: String { name.isEmpty ? kind.rawValue : "\(kind.rawValue) \(name)" }
}
