/// A type of values that can be read from a result.
public protocol SQLDecodable {
  /// The value; nil if it is null, or not of this type.
  init?(_ value: SQLValue)
}

/// A value of a result. It is valid only as long as its result exists.
public enum SQLValue {
  case null
  /// A value in PostgreSQL's text form.
  case text(UnsafeRawBufferPointer)
  /// A value in the binary form of its type.
  case binary(BinaryValue)

  /// Whether it is null.
  public var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The text form, or the bytes of a value of a text type; nil for null.
  public var string: String? {
    switch self {
    case .null: nil
    case .text(let bytes): String(decoding: bytes, as: UTF8.self)
    case .binary(let value): value.text
    }
  }
}

extension SQLDecodable where Self: FixedWidthInteger {
  /// An integer, if this type can represent it.
  public init?(_ value: SQLValue) {
    let integer: Int64? =
      if case .binary(let value) = value { value.integer } else {
        value.string.flatMap { Int64($0) }
      }
    guard let integer, let exact = Self(exactly: integer) else { return nil }
    self = exact
  }
}

extension Int: SQLDecodable {}
extension Int16: SQLDecodable {}
extension Int32: SQLDecodable {}
extension Int64: SQLDecodable {}

extension Double: SQLDecodable {
  /// A `double precision`; in the text form, any number.
  public init?(_ value: SQLValue) {
    let double: Double? =
      if case .binary(let value) = value { value.double } else {
        value.string.flatMap { Double($0) }
      }
    guard let double else { return nil }
    self = double
  }
}

extension Bool: SQLDecodable {
  /// A `boolean`.
  public init?(_ value: SQLValue) {
    switch value {
    case .null: return nil
    case .binary(let value):
      guard value.bytes?.count == 1, let bool = value.bool else { return nil }
      self = bool
    case .text:
      switch value.string {
      case "t": self = true
      case "f": self = false
      default: return nil
      }
    }
  }
}

extension String: SQLDecodable {
  /// A value of a text type; in the text form, of any type.
  public init?(_ value: SQLValue) {
    guard let string = value.string else { return nil }
    self = string
  }
}

extension SQLDecodable where Self: RawRepresentable, RawValue: SQLDecodable {
  /// The case or value with the raw value.
  public init?(_ value: SQLValue) {
    guard let rawValue = RawValue(value) else { return nil }
    self.init(rawValue: rawValue)
  }
}

extension Optional: SQLDecodable where Wrapped: SQLDecodable {
  /// Nil for null.
  public init?(_ value: SQLValue) {
    guard !value.isNull else {
      self = .none
      return
    }
    guard let wrapped = Wrapped(value) else { return nil }
    self = .some(wrapped)
  }
}

extension Array: SQLDecodable where Element: SQLDecodable {
  /// An array of at most one dimension.
  public init?(_ value: SQLValue) {
    self = []
    var isComplete = true
    func append(_ value: SQLValue, _ array: inout [Element]) {
      if let element = Element(value) { array.append(element) } else { isComplete = false }
    }
    switch value {
    case .null: return nil
    case .binary(let value):
      guard value.forEachElement({ append($0, &self) }) else { return nil }
    case .text(let bytes):
      guard let elements = Self.elements(of: bytes) else { return nil }
      for element in elements {
        guard var element else {
          append(.null, &self)
          continue
        }
        element.withUTF8 { append(.text(UnsafeRawBufferPointer($0)), &self) }
      }
    }
    guard isComplete else { return nil }
  }

  /// The elements of an array in the text form, nil for null.
  private static func elements(of bytes: UnsafeRawBufferPointer) -> [String?]? {
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}") else {
      return nil
    }
    var elements: [String?] = []
    var element: [UInt8] = []
    var isQuoted = false
    var isInQuotes = false
    var isEscaped = false
    func finish() {
      let text = String(decoding: element, as: UTF8.self)
      elements.append(!isQuoted && text == "NULL" ? nil : text)
      element = []
      isQuoted = false
    }
    for byte in bytes[1..<(bytes.count - 1)] {
      switch byte {
      case _ where isEscaped:
        element.append(byte)
        isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = true
      case UInt8(ascii: "\""):
        isInQuotes.toggle()
        isQuoted = true
      case UInt8(ascii: ",") where !isInQuotes: finish()
      case UInt8(ascii: "{") where !isInQuotes: return nil  // another dimension
      default: element.append(byte)
      }
    }
    if isQuoted || !element.isEmpty || !elements.isEmpty { finish() }
    return elements
  }
}
