/// The text of a statement, made at compile time from literals, so that no value can get into it:
/// values go in as `Parameter`s.
///
/// It can be written as a literal and joined from others; it cannot be interpolated or made from a
/// `String`, but for `init(trusted:)`, whose name says what its caller vouches for.
public struct SQL: ExpressibleByStringLiteral, Hashable, Sendable {
  /// The statement.
  public let text: String

  /// The literal's text.
  public init(stringLiteral value: StaticString) {
    text = "\(value)"
  }

  /// Text that does not come from outside the program: a migration, or names from a list of the
  /// program's own.
  public init(trusted text: String) {
    self.text = text
  }

  /// A connection has few statements, and looks for one each time it runs it: telling them apart by
  /// their lengths is quicker than hashing a long text.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(text.utf8.count)
  }

  /// One statement text after another.
  public static func + (left: SQL, right: SQL) -> SQL {
    SQL(trusted: left.text + right.text)
  }
}
