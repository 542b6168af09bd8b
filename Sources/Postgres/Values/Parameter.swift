/// A value for `$1`, `$2`, ... of a statement, as `SQLEncodable` makes it. The server converts it to the parameter's type.
public enum Parameter: Sendable {
  /// SQL null.
  case null
  /// Text, or any type in its text form. Must not contain NUL.
  case text(String)
  /// An integer of any width.
  case integer(Int64)
  /// A double, passed so that the same double arrives.
  case double(Double)
  /// A boolean.
  case bool(Bool)

  /// Text, or null.
  package static func text(_ value: String?) -> Parameter {
    value.map { Parameter.text($0) } ?? .null
  }

  /// An integer, or null.
  package static func integer(_ value: Int64?) -> Parameter {
    value.map { Parameter.integer($0) } ?? .null
  }

  /// A double, or null.
  package static func double(_ value: Double?) -> Parameter {
    value.map { Parameter.double($0) } ?? .null
  }

  /// An array of texts (`text[]`). None may contain NUL.
  package static func array(_ values: some Sequence<String>) -> Parameter {
    Array(values).sqlParameter
  }

  /// An array of integers (`bigint[]`).
  package static func array(_ values: some Sequence<Int64>) -> Parameter {
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
