/// A value that can be a parameter of a statement: interpolated into `SQL`, it is bound.
public protocol SQLEncodable {
  var sqlParameter: Parameter { get }
}

extension Parameter: SQLEncodable {
  /// Itself.
  public var sqlParameter: Parameter { self }
}

extension SQLEncodable where Self: BinaryInteger {
  /// The integer.
  public var sqlParameter: Parameter { .integer(Int64(self)) }
}

extension Int: SQLEncodable {}
extension Int16: SQLEncodable {}
extension Int32: SQLEncodable {}
extension Int64: SQLEncodable {}

extension Double: SQLEncodable {
  /// The double, sent so that the same double arrives.
  public var sqlParameter: Parameter { .double(self) }
}

extension Bool: SQLEncodable {
  /// The boolean.
  public var sqlParameter: Parameter { .bool(self) }
}

extension String: SQLEncodable {
  /// The text, or a value of any type in its text form.
  public var sqlParameter: Parameter { .text(self) }
}

extension SQLEncodable where Self: RawRepresentable, RawValue: SQLEncodable {
  /// The raw value.
  public var sqlParameter: Parameter { rawValue.sqlParameter }
}

extension Optional: SQLEncodable where Wrapped: SQLEncodable {
  /// Null for nil.
  public var sqlParameter: Parameter { self?.sqlParameter ?? .null }
}

extension Array: SQLEncodable where Element: SQLEncodable {
  /// An array of one dimension in PostgreSQL's text form.
  public var sqlParameter: Parameter {
    var text: [UInt8] = [UInt8(ascii: "{")]
    for element in self {
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      guard let element = element.sqlParameter.textForm else {
        text.append(contentsOf: "NULL".utf8)
        continue
      }
      text.append(UInt8(ascii: "\""))
      for byte in element.utf8 {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
          text.append(UInt8(ascii: "\\"))
        }
        text.append(byte)
      }
      text.append(UInt8(ascii: "\""))
    }
    text.append(UInt8(ascii: "}"))
    return .text(String(decoding: text, as: UTF8.self))
  }
}

/// A value for `$1`, `$2`, ... of a statement, as `SQLEncodable` makes it. The server converts it to the parameter's type.
public enum Parameter: Sendable {
  case null
  /// Text, or any type in its text form. Must not contain NUL.
  case text(String)
  case integer(Int64)
  /// A double, passed so that the same double arrives.
  case double(Double)
  case bool(Bool)

  package static func text(_ value: String?) -> Parameter {
    value.map { Parameter.text($0) } ?? .null
  }

  package static func integer(_ value: Int64?) -> Parameter {
    value.map { Parameter.integer($0) } ?? .null
  }

  /// An array of texts (`text[]`). None may contain NUL.
  package static func array(_ values: some Sequence<String>) -> Parameter {
    Array(values).sqlParameter
  }

  /// The value in PostgreSQL's text form; nil for null.
  var textForm: String? {
    switch self {
    case .null: nil
    case .text(let value): value
    case .integer(let value): String(value)
    case .double(let value):
      value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : "\(value)"
    case .bool(let value): value ? "t" : "f"
    }
  }
}
