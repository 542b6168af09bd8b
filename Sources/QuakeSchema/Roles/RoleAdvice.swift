package import Postgres

/// Names the role that may do what PostgreSQL refused to another one.
package enum RoleAdvice {
  /// What to do about an error with SQLSTATE 42501, or about a refused connection to the database; nil for other
  /// errors.
  ///
  /// PostgreSQL names the object, and the statement shows the privileges that it needs on the object. From a
  /// message in another language than English, only the general advice follows.
  package static func hint(for error: PostgresError) -> String? {
    let message = words(of: error.message)
    if error.kind == .connection {
      return message.contains(["permission", "denied", "for", "database"]) ? general : nil
    }
    guard error.kind == .server, error.sqlState == SQLState.insufficientPrivilege,
      let names = RoleNames()
    else { return nil }
    // The roles come after the schema, and none of them may create it.
    if message.starts(with: ["permission", "denied", "for", "database"]) { return forNewSchema }
    let roles = Self.roles(for: message, statement: words(of: error.statement ?? ""))
    guard !roles.isEmpty, roles != Role.granted else { return general }
    let list = roles.map { names.name($0) }
    let others = list.dropLast().joined(separator: ", ")
    return
      "Connect as \(others)\(others.isEmpty ? "" : " or ")\(list.last ?? ""), or as a member of it."
      + " If you have, run \"quake-admin roles create\", as after each migration and restore."
  }

  private static let forNewSchema =
    "Connect as the owner of the database or as a superuser: they may create the schema."

  /// The task of each role.
  private static var general: String {
    guard let names = RoleNames() else { return "" }
    return "Connect as one of Quake's roles, or as a member of one: "
      + Role.allCases.map { "\(names.name($0)) \($0.purpose)" }.joined(separator: "; ")
      + ". \"quake-admin roles create\" creates them."
  }

  /// The roles that may run the statement, as far as the object of the message is concerned; none if that is not
  /// known.
  private static func roles(for message: [String], statement: [String]) -> [Role] {
    if message.contains(["must", "be", "owner", "of"])
      || ["create", "alter", "drop", "comment", "reindex"].contains(statement.first)
    {
      return message.contains("temporary") ? [.writer] : [.owner]
    }
    guard message.starts(with: ["permission", "denied", "for"]), message.count > 4 else {
      return []
    }
    let (kind, name) = (message[3], "quake.\(message[4])")
    let shared = "pg_catalog.\(message[4])"
    guard
      let row = (PrivilegeTable.allObjects + PrivilegeTable.sharedFunctions).first(where: {
        $0.object.kind.rawValue == kind
          && [name, shared].contains(String($0.object.name.prefix { $0 != "(" }))
      })
    else { return [] }
    let needed = kind == "function" ? [.execute] : privileges(on: name, in: statement)
    let whole = Role.allCases.filter { role in needed.allSatisfy { row.grants($0, to: role) } }
    if !whole.isEmpty { return whole }
    let some = Role.allCases.filter { role in
      needed.allSatisfy { row.grants($0, to: role) || !row.columns($0, for: role).isEmpty }
    }
    return some.isEmpty ? [.owner] : some
  }

  /// The privileges on a table, view or sequence that a statement needs.
  private static func privileges(on name: String, in statement: [String]) -> Set<Privilege> {
    var needed: Set<Privilege> = []
    for index in statement.indices where statement[index] == name {
      let before = statement[..<index].suffix(2).map { $0 }
      switch before.last {
      case "into":
        needed.insert(.insert)
        if statement.contains(["do", "update"]) { needed.insert(.update) }
      case "update": needed.insert(.update)
      case "copy": needed.insert(statement.contains("stdin") ? .insert : .select)
      case "from" where before.first == "delete": needed.insert(.delete)
      case "table" where before.first == "lock":
        needed.insert(
          statement.contains(["access", "share"])
            ? .select : statement.contains(["access", "exclusive"]) ? .truncate : .update)
      case "truncate": needed.insert(.truncate)
      default:
        needed.insert(.select)
        if statement.contains(["for", "update"]) || statement.contains(["for", "no", "key"]) {
          needed.insert(.update)
        }
      }
    }
    return needed.isEmpty ? [.select] : needed
  }

  /// The words of a text, in lower case; a name keeps its schema.
  private static func words(of text: String) -> [String] {
    text.lowercased().split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == ".") }
      .map(String.init)
  }
}
