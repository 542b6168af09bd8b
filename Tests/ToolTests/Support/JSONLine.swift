import Foundation
import Testing

/// One line of a tool's JSON output.
struct JSONLine {
  let text: String
  private let members: [String: Any]

  init(_ text: String) throws {
    self.text = text
    members = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
      "not a JSON object: \(text)")
  }

  private init(text: String, members: [String: Any]) {
    self.text = text
    self.members = members
  }

  var keys: Set<String> { Set(members.keys) }
  func isNull(_ key: String) -> Bool { members[key] is NSNull }
  func string(_ key: String) -> String? { members[key] as? String }
  func integer(_ key: String) -> Int? { (members[key] as? NSNumber)?.intValue }
  func double(_ key: String) -> Double? { (members[key] as? NSNumber)?.doubleValue }
  func bool(_ key: String) -> Bool? { (members[key] as? NSNumber)?.boolValue }
  func strings(_ key: String) -> [String] { members[key] as? [String] ?? [] }
  func objects(_ key: String) -> [JSONLine]? {
    (members[key] as? [[String: Any]])?.map { JSONLine(text: text, members: $0) }
  }
  subscript(key: String) -> JSONLine? {
    (members[key] as? [String: Any]).map { JSONLine(text: text, members: $0) }
  }

  /// A change as `TestDatabase.history()` writes it.
  var change: String {
    let position = integer("position").map(String.init) ?? "?"
    return [string("token") ?? "?", position, string("op") ?? "?", string("code") ?? "null"]
      .joined(separator: " ")
  }
}
