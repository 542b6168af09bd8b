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
    NSArray(object: left.value).isEqual(NSArray(object: right.value))
  }

  subscript(name: String) -> JSONValue? {
    (value as? [String: Any])?[name].map { JSONValue($0) }
  }

  var names: Set<String>? { (value as? [String: Any]).map { Set($0.keys) } }
  var elements: [JSONValue] { (value as? [Any] ?? []).map { JSONValue($0) } }
  var text: String? { value as? String }
  var number: Double? { (value as? NSNumber)?.doubleValue }
}
