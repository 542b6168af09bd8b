/// A value that can be a parameter of a statement: interpolated into `SQL`, it is bound.
public protocol SQLEncodable {
  /// The value as a parameter.
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
