import Foundation

/// A JSON value, read by a parser that shares no code with the tools.
struct JSONValue: Equatable {
  /// As Foundation represents it.
  private let value: Any

  /// Reads a whole document; throws if it is not valid.
  init(_ bytes: [UInt8]) throws {
    value = try JSONSerialization.jsonObject(with: Data(bytes))
  }

  private init(_ value: Any) {
    self.value = value
  }

  static func == (left: JSONValue, right: JSONValue) -> Bool {
    isSame(left.value, right.value)
  }

  private static func isSame(_ left: Any, _ right: Any) -> Bool {
    switch (left, right) {
    case (let left as String, let right as String): left == right
    case (let left as NSNumber, let right as NSNumber): left == right
    case (let left as [String: Any], let right as [String: Any]):
      left.count == right.count
        && left.allSatisfy { name, value in right[name].map { isSame(value, $0) } ?? false }
    case (let left as [Any], let right as [Any]):
      left.count == right.count && zip(left, right).allSatisfy { isSame($0, $1) }
    default: left is NSNull && right is NSNull
    }
  }

  subscript(name: String) -> JSONValue? {
    (value as? [String: Any])?[name].map { JSONValue($0) }
  }

  var names: Set<String>? { (value as? [String: Any]).map { Set($0.keys) } }
  var elements: [JSONValue] { (value as? [Any] ?? []).map { JSONValue($0) } }
  var text: String? { value as? String }
  var number: Double? { (value as? NSNumber)?.doubleValue }
}
