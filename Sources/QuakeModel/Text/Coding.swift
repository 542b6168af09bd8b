/// `Codable` for what a program keeps: events with the names of their columns as keys, as in the JSON of the tools;
/// instants, tokens and cursors as their texts.

extension Decoder {
  /// Reads a value from its text.
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
  /// Writes a value's text.
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
