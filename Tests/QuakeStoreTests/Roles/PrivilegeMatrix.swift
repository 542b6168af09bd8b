@testable import QuakeSchema

/// Formats the table of privileges for people.
enum PrivilegeMatrix {
  /// A Markdown table with a row for each object, a column for each role, and the letters of psql's `\dp`.
  static var markdown: String {
    var lines = [
      "| Object | " + Role.allCases.map(\.rawValue).joined(separator: " | ") + " |",
      "| --- |" + String(repeating: " --- |", count: Role.allCases.count),
    ]
    for row in PrivilegeTable.allObjects {
      let name = row.object.name.isEmpty ? "the database" : "`\(row.object.name)`"
      lines.append(
        "| \(name) | " + Role.allCases.map { cell(row, $0) }.joined(separator: " | ") + " |")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The recommended settings, as a Markdown table.
  static var settingsMarkdown: String {
    let settings = RoleSettings.recommended(for: .writer).settings.map(\.name)
    var lines = [
      "| Role | connections | " + settings.map { "`\($0)`" }.joined(separator: " | ") + " |",
      "| --- | --- |" + String(repeating: " --- |", count: settings.count),
    ]
    for role in Role.allCases {
      let recommended = RoleSettings.recommended(for: role)
      let values = settings.map { name in
        recommended.settings.first { $0.name == name }?.value ?? ""
      }
      lines.append(
        "| \(role.rawValue) | \(recommended.connectionLimit) | "
          + values.joined(separator: " | ") + " |")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func cell(_ row: ObjectPrivileges, _ role: Role) -> String {
    if role == .owner, row.object.kind != .database { return "owns" }
    let letters = row.grants.filter { $0.roles.contains(role) }.map {
      $0.privilege.letter + ($0.columns == nil ? "" : "\\*")
    }
    return letters.joined()
  }
}

extension Privilege {
  /// The letter for it in psql's `\dp`.
  fileprivate var letter: String {
    switch self {
    case .select: "r"
    case .insert: "a"
    case .update: "w"
    case .delete: "d"
    case .truncate: "D"
    case .references: "x"
    case .trigger: "t"
    case .execute: "X"
    case .usage: "U"
    case .create: "C"
    case .connect: "c"
    case .temporary: "T"
    }
  }
}
