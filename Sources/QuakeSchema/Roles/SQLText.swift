/// Quotes texts for SQL statements that do not accept parameters.
enum SQLText {
  static func identifier(_ name: String) -> String { "\"" + doubled(name, "\"") + "\"" }

  /// A literal for `standard_conforming_strings = on`, which `RoleDirectory` sets.
  static func literal(_ text: String) -> String { "'" + doubled(text, "'") + "'" }

  private static func doubled(_ text: String, _ quote: Character) -> String {
    text.reduce(into: "") { $0 += $1 == quote ? "\(quote)\(quote)" : String($1) }
  }
}
