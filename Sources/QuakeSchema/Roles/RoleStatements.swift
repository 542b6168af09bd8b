/// Combines the corrections of findings into few statements.
enum RoleStatements {
  /// The statements in an order in which they work, each object's of one kind together.
  static func list(for remedies: [RoleFinding.Remedy]) -> [String] {
    var statements: [String] = []
    // One statement grants or revokes the same privileges on several objects.
    var order: [Key] = []
    var privileges: [Key: [String]] = [:]
    for remedy in remedies {
      switch remedy {
      case .grant(let privilege, let columns, let object, let role):
        let key = Key(isGrant: true, object: object, role: role)
        if privileges[key] == nil { order.append(key) }
        privileges[key, default: []].append(word(privilege.rawValue, columns))
      case .revoke(let privilege, let columns, let object, let role):
        let key = Key(isGrant: false, object: object, role: role)
        if privileges[key] == nil { order.append(key) }
        privileges[key, default: []].append(word(privilege, columns))
      case .statement(let text): statements.append(text)
      }
    }
    var groups: [(key: Key, privileges: String, objects: [SecuredObject])] = []
    for key in order {
      let words = (privileges[key] ?? []).joined(separator: ", ")
      if let index = groups.firstIndex(where: { $0.key.isLike(key) && $0.privileges == words }) {
        groups[index].objects.append(key.object)
      } else {
        groups.append((key, words, [key.object]))
      }
    }
    // Revokes run before grants.
    groups = groups.filter { !$0.key.isGrant } + groups.filter { $0.key.isGrant }
    return statements
      + groups.map {
        statement($0.key.isGrant, $0.privileges, on: $0.objects, $0.key.role)
      }
  }

  static func text(of remedy: RoleFinding.Remedy) -> String {
    switch remedy {
    case .statement(let text): text
    case .grant(let privilege, let columns, let object, let role):
      statement(true, word(privilege.rawValue, columns), on: [object], role)
    case .revoke(let privilege, let columns, let object, let role):
      statement(false, word(privilege, columns), on: [object], role)
    }
  }

  private struct Key: Hashable {
    var isGrant: Bool
    var object: SecuredObject
    var role: String

    func isLike(_ other: Key) -> Bool {
      isGrant == other.isGrant && role == other.role
        && object.kind.grantWord == other.object.kind.grantWord
    }
  }

  private static func word(_ privilege: String, _ columns: [String]) -> String {
    privilege.lowercased() + (columns.isEmpty ? "" : " (\(columns.joined(separator: ", ")))")
  }

  private static func statement(
    _ isGrant: Bool, _ privileges: String, on objects: [SecuredObject], _ role: String
  ) -> String {
    let kind = objects.first?.kind.grantWord ?? ""
    return "\(isGrant ? "grant" : "revoke") \(privileges) on \(kind) "
      + objects.map(\.name).joined(separator: ", ") + " \(isGrant ? "to" : "from") \(role)"
  }
}

/// Quotes texts for SQL statements that do not accept parameters.
enum SQLText {
  static func identifier(_ name: String) -> String { "\"" + doubled(name, "\"") + "\"" }

  /// A literal for `standard_conforming_strings = on`, which `RoleDirectory` sets.
  static func literal(_ text: String) -> String { "'" + doubled(text, "'") + "'" }

  private static func doubled(_ text: String, _ quote: Character) -> String {
    text.reduce(into: "") { $0 += $1 == quote ? "\(quote)\(quote)" : String($1) }
  }
}
