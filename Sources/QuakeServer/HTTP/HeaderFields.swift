/// The header fields of a message, in their order. Names are compared without regard to case.
struct HeaderFields: Sendable, ExpressibleByDictionaryLiteral {
  struct Field: Sendable {
    var name: String
    var value: String
  }

  private(set) var fields: [Field] = []

  init() {}

  init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// The value of the first field of that name, which must be in small letters.
  subscript(name: String) -> String? {
    fields.first { Self.isSame($0.name, name) }?.value
  }

  /// The values of all fields of that name, joined by commas, as a list field is read.
  func list(_ name: String) -> String? {
    let values = fields.filter { Self.isSame($0.name, name) }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// Adds a field after the others.
  mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// Removes all fields of that name, which must be in small letters.
  mutating func remove(_ name: String) {
    fields.removeAll { Self.isSame($0.name, name) }
  }

  /// Adds a field unless there is one of that name.
  mutating func appendIfAbsent(_ name: String, _ value: String) {
    if self[name.lowercased()] == nil { append(name, value) }
  }

  private static func isSame(_ name: String, _ small: String) -> Bool {
    name.utf8.count == small.utf8.count
      && zip(name.utf8, small.utf8).allSatisfy {
        $0 == $1 || ($0 >= 0x41 && $0 <= 0x5A && $0 | 0x20 == $1)
      }
  }
}
