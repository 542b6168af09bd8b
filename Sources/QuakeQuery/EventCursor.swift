internal import Postgres
internal import QuakeHistory
public import QuakeModel

/// The position of an event in an ordered list: the values that the order compares. A page that begins after it
/// is found by these values, so that it costs the same however far down the list it is, and no event is
/// skipped or repeated when others are inserted or deleted meanwhile.
public struct EventCursor: Sendable, Hashable {
  enum Value: Sendable, Hashable, SQLEncodable {
    case text(String)
    case double(Double)
    case integer(Int)
    case timestamp(Timestamp)
    case bool(Bool)

    var sqlParameter: Parameter {
      switch self {
      case .text(let text): text.sqlParameter
      case .double(let value): value.sqlParameter
      case .integer(let value): value.sqlParameter
      case .timestamp(let time): time.sqlParameter
      case .bool(let value): value.sqlParameter
      }
    }
  }

  /// The order of the list, ended by the code.
  public let order: [EventOrder]
  /// The event's values in the order's columns.
  let values: [Value?]

  /// The position of an event in a list of this order.
  public init(of event: EventRecord, in order: [EventOrder]) {
    self.order = EventOrder.total(order)
    values = self.order.map { order in
      switch order.column.kind {
      case .text: event.text(order.column).map { .text($0) }
      case .float8: event.double(order.column).map { .double($0) }
      case .int4, .int2: event.integer(order.column).map { .integer($0) }
      case .timestamp: event.timestamp(order.column).map { .timestamp($0) }
      case .bool: event.bool(order.column).map { .bool($0) }
      }
    }
  }

  /// The condition that an event comes after the cursor.
  ///
  /// - Parameter alias: The alias of the event.
  func condition(alias: SQL) -> SQL {
    var alternatives: [SQL] = []
    var equal: [SQL] = []
    // Follows from the rest, and bounds the range of an index.
    var range: SQL?
    for (order, value) in zip(order, values) {
      let name: SQL = "\(sql: alias).\(identifier: order.column.name)"
      guard let value else {
        // Nulls come last, so that nothing comes after one.
        equal.append("\(sql: name) is null")
        continue
      }
      let limit: SQL = "\(value)::\(sql: order.column.parameterType)"
      let comparison: SQL = order.direction == .descending ? "<" : ">"
      let isAfter: SQL =
        order.column.isNeverNull
        ? "\(sql: name) \(sql: comparison) \(sql: limit)"
        : "(\(sql: name) \(sql: comparison) \(sql: limit) or \(sql: name) is null)"
      if equal.isEmpty, order.column.isNeverNull {
        range = "\(sql: name) \(sql: comparison)= \(sql: limit)"
      }
      alternatives.append((equal + [isAfter]).joined(separator: " and "))
      equal.append("\(sql: name) = \(sql: limit)")
    }
    let any = alternatives.map { "(\(sql: $0))" as SQL }.joined(separator: " or ")
    return range.map { "(\(sql: $0) and (\(sql: any)))" } ?? "(\(sql: any))"
  }
}

extension EventCursor: CustomStringConvertible {
  private static let version = "1"

  /// The cursor as text, for `init(_:)`: letters, digits, `-` and `_`.
  public var description: String {
    var fields = [Self.version]
    for (order, value) in zip(order, values) {
      fields.append("\(order)")
      let field =
        switch value {
        case nil: "-"
        case .text(let text): "=" + text
        case .double(let value): "=\(value)"
        case .integer(let value): "=\(value)"
        case .timestamp(let time): "=\(time.microseconds)"
        case .bool(let value): "=\(value)"
        }
      fields.append(field)
    }
    return Base64URL.encode(Array(fields.joined(separator: "\0").utf8))
  }

  /// Reads a cursor's text; nil if it is none.
  public init?(_ text: String) {
    guard let bytes = Base64URL.decode(text), let plain = String(validating: bytes, as: UTF8.self)
    else { return nil }
    let fields = plain.split(separator: "\0", omittingEmptySubsequences: false)
    guard fields.first == Self.version[...], fields.count >= 3, fields.count % 2 == 1 else {
      return nil
    }
    var order: [EventOrder] = []
    var values: [Value?] = []
    for index in stride(from: 1, to: fields.count, by: 2) {
      guard let part = EventOrder(fields[index]) else { return nil }
      order.append(part)
      let field = fields[index + 1]
      if field == "-" {
        guard !part.column.isNeverNull else { return nil }
        values.append(nil)
        continue
      }
      guard field.first == "=", let value = Self.value(String(field.dropFirst()), part.column.kind)
      else { return nil }
      values.append(value)
    }
    guard EventOrder.total(order) == order else { return nil }
    self.order = order
    self.values = values
  }

  private static func value(_ text: String, _ kind: EventColumn.Kind) -> Value? {
    switch kind {
    case .text: .text(text)
    case .float8: Double(text).map { .double($0) }
    case .int4, .int2: Int32(text).map { .integer(Int($0)) }
    case .timestamp:
      Int64(text).map { Timestamp(microseconds: $0) }
        .flatMap { $0 >= .earliest && $0 <= .latest ? .timestamp($0) : nil }
    case .bool: Bool(text).map { .bool($0) }
    }
  }
}

extension EventCursor: Codable {
  /// Reads a cursor's text.
  public init(from decoder: any Decoder) throws { self = try decoder.value { EventCursor($0) } }

  /// Writes the cursor's text.
  public func encode(to encoder: any Encoder) throws { try encoder.encode(text: self) }
}

/// Bytes as letters, digits, `-` and `_` (RFC 4648, section 5, without padding): text that needs no quotes in a
/// shell or a URL.
enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits = group.reduce(0) { $0 << 8 | UInt32($1) }
      bits <<= UInt32(3 - group.count) * 8
      for index in 0...group.count {
        text.append(alphabet[Int(bits >> UInt32(18 - 6 * index) & 0x3F)])
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of a text; nil if it has another character or another length.
  static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for character in text.utf8 {
      guard let value = value(character) else { return nil }
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        bits &= (1 << UInt32(count)) - 1
      }
    }
    return count < 6 && bits == 0 ? bytes : nil
  }

  private static func value(_ character: UInt8) -> UInt32? {
    switch character {
    case 0x41...0x5A: UInt32(character) - 0x41
    case 0x61...0x7A: UInt32(character) - 0x61 + 26
    case 0x30...0x39: UInt32(character) - 0x30 + 52
    case 0x2D: 62
    case 0x5F: 63
    default: nil
    }
  }
}
