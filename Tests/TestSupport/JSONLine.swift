import Foundation

/// One line of a tool's JSON output.
package struct JSONLine {
  /// The line.
  package let text: String
  private let members: [String: Any]

  /// Reads a line; throws if it holds anything but one JSON object.
  package init(_ text: String) throws {
    self.text = text
    let value = try JSONSerialization.jsonObject(with: Data(text.utf8))
    guard let members = value as? [String: Any] else {
      throw ToolProcess.Failure(description: "not a JSON object: \(text)")
    }
    self.members = members
  }

  private init(text: String, members: [String: Any]) {
    self.text = text
    self.members = members
  }

  /// The names of its members.
  package var keys: Set<String> { Set(members.keys) }
  /// Whether a member is present and null.
  package func isNull(_ key: String) -> Bool { members[key] is NSNull }
  /// A member of that type; nil for another, or none.
  package func string(_ key: String) -> String? { members[key] as? String }
  /// A member of that type; nil for another, or none.
  package func integer(_ key: String) -> Int? { (members[key] as? NSNumber)?.intValue }
  /// A member of that type; nil for another, or none.
  package func double(_ key: String) -> Double? { (members[key] as? NSNumber)?.doubleValue }
  /// A member of that type; nil for another, or none.
  package func bool(_ key: String) -> Bool? { (members[key] as? NSNumber)?.boolValue }
  /// A member that is an array of strings; empty for another, or none.
  package func strings(_ key: String) -> [String] { members[key] as? [String] ?? [] }
  /// A member that is an array of objects; nil for another, or none.
  package func objects(_ key: String) -> [JSONLine]? {
    (members[key] as? [[String: Any]])?.map { JSONLine(text: text, members: $0) }
  }
  /// A member that is an object.
  package subscript(key: String) -> JSONLine? {
    (members[key] as? [String: Any]).map { JSONLine(text: text, members: $0) }
  }

  /// A change as `TestDatabase.history()` writes it.
  package var change: String {
    let position = integer("position").map(String.init) ?? "?"
    return [string("token") ?? "?", position, string("op") ?? "?", string("code") ?? "null"]
      .joined(separator: " ")
  }
}
