/// `Codable` for what a program keeps: events with the names of their columns as keys, as in the JSON of the tools;
/// instants, tokens and cursors as their texts.

extension Decoder {
  package func value<Value>(_ read: (String) -> Value?) throws -> Value {
    let container = try singleValueContainer()
    let text = try container.decode(String.self)
    guard let value = read(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\"\(text)\" is not of the form of a \(Value.self)")
    }
    return value
  }
}

extension Encoder {
  package func encode(text value: some CustomStringConvertible) throws {
    var container = singleValueContainer()
    try container.encode(value.description)
  }
}

extension Timestamp: Codable {
  /// Reads an instant as ISO 8601 text.
  public init(from decoder: any Decoder) throws {
    self = try decoder.value { Timestamp(iso8601: $0) }
  }

  /// Writes the instant as ISO 8601 text.
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: self) }
}

extension ChangeToken: Codable {
  /// Reads a token's text.
  public init(from decoder: any Decoder) throws { self = try decoder.value { ChangeToken($0) } }

  /// Writes the token's text.
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: self) }
}

extension HistoryCursor: Codable {
  /// Reads a cursor's text.
  public init(from decoder: any Decoder) throws { self = try decoder.value { HistoryCursor($0) } }

  /// Writes the cursor's text.
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: self) }
}

extension EventRecord: Codable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ column: EventColumn) { stringValue = column.name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Reads the values by the names of their columns; other keys do not count.
  public init(from decoder: any Decoder) throws {
    self.init()
    let values = try decoder.container(keyedBy: Key.self)
    for column in EventColumn.allCases {
      let key = Key(column)
      switch column.kind {
      case .text:
        guard let text = try values.decodeIfPresent(String.self, forKey: key) else { continue }
        guard !text.utf8.contains(0) else {
          throw DecodingError.dataCorruptedError(
            forKey: key, in: values, debugDescription: "a text of an event holds no NUL")
        }
        set(column, text)
      case .float8:
        if let value = try values.decodeIfPresent(Double.self, forKey: key) { set(column, value) }
      case .int4:
        if let value = try values.decodeIfPresent(Int32.self, forKey: key) {
          set(column, integer: Int(value))
        }
      case .int2:
        if let value = try values.decodeIfPresent(Int16.self, forKey: key) {
          set(column, integer: Int(value))
        }
      case .timestamp:
        if let value = try values.decodeIfPresent(Timestamp.self, forKey: key) {
          set(column, value)
        }
      case .bool:
        if let value = try values.decodeIfPresent(Bool.self, forKey: key) { set(column, value) }
      }
    }
  }

  /// Writes the values that the record has.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: Key.self)
    for column in EventColumn.allCases where has(column) {
      let key = Key(column)
      switch column.kind {
      case .text: try values.encode(text(column), forKey: key)
      case .float8: try values.encode(double(column), forKey: key)
      case .int4, .int2: try values.encode(integer(column), forKey: key)
      case .timestamp: try values.encode(timestamp(column), forKey: key)
      case .bool: try values.encode(bool(column), forKey: key)
      }
    }
  }
}

/// Text as a part of a URL: a name in its path, or a name or value in its query.
package enum PercentEncoding {
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// The text with every byte escaped that has a meaning in URLs or in header fields, but for `others`.
  package static func text(_ text: String, keeping others: [UInt8] = []) -> String {
    var text = text
    var bytes: [UInt8] = []
    text.withUTF8 {
      append(UnsafeRawBufferPointer($0), keeping: [0x2C, 0x7E] + others, to: &bytes)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends a code with every byte escaped that not every part of a URL or an identifier can have.
  package static func append(
    _ code: UnsafeRawBufferPointer, keeping others: [UInt8] = [], to bytes: inout [UInt8]
  ) {
    for byte in code {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x3A: bytes.append(byte)
      case _ where others.contains(byte): bytes.append(byte)
      default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
  }

  /// The byte that a percent sign and two hexadecimal digits stand for; nil if they are none.
  package static func byte(_ high: UInt8, _ low: UInt8) -> UInt8? {
    guard let high = value(high), let low = value(low) else { return nil }
    return high << 4 | low
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
  }
}
