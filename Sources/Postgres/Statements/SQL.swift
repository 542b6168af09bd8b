/// The text of a statement. It is composed of literals at compile time, so that it contains no values; they
/// are passed as `Parameter`s.
///
/// It is a literal or a concatenation of others. It cannot be interpolated or made from a `String`, except
/// with `init(trusted:)`, whose caller vouches for the text.
public struct SQL: ExpressibleByStringLiteral, Hashable, Sendable {
  /// The statement.
  package let text: String

  /// The literal's text.
  public init(stringLiteral value: StaticString) {
    text = "\(value)"
  }

  /// Text that is part of the program: a migration, or names from a list in the source.
  package init(trusted text: String) {
    self.text = text
  }

  /// Hashes only the length. A connection has few statements and looks one up at each execution, and hashing
  /// a long text would take longer.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(text.utf8.count)
  }

  /// The concatenation of two texts.
  package static func + (left: SQL, right: SQL) -> SQL {
    SQL(trusted: left.text + right.text)
  }
}
