/// Texts as SQL writes them, for statements that take no parameters.
enum SQLText {
  static func identifier(_ name: String) -> String { "\"" + doubled(name, "\"") + "\"" }

  /// With `standard_conforming_strings`, which `RoleDirectory` sees to.
  static func literal(_ text: String) -> String { "'" + doubled(text, "'") + "'" }

  private static func doubled(_ text: String, _ quote: Character) -> String {
    text.reduce(into: "") { $0 += $1 == quote ? "\(quote)\(quote)" : String($1) }
  }
}
