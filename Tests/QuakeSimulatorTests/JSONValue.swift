/// A JSON value, read by a parser that shares no code with the tools.
indirect enum JSONValue: Equatable {
  case null
  case bool(Bool)
  /// As it is written.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  struct Malformed: Error {
    var position: Int
  }

  /// Reads a whole document; it must be valid UTF-8 and nothing may follow.
  init(_ bytes: [UInt8]) throws {
    guard String(validating: bytes, as: UTF8.self) != nil else { throw Malformed(position: 0) }
    var parser = Parser(bytes: bytes)
    self = try parser.value()
    parser.skipSpace()
    guard parser.position == bytes.count else { throw Malformed(position: parser.position) }
  }

  subscript(name: String) -> JSONValue? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var number: Double? { if case .number(let text) = self { Double(text) } else { nil } }

  private struct Parser {
    let bytes: [UInt8]
    var position = 0

    mutating func skipSpace() {
      while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x0A {
        position += 1
      }
    }

    mutating func take(_ byte: UInt8) -> Bool {
      skipSpace()
      guard position < bytes.count, bytes[position] == byte else { return false }
      position += 1
      return true
    }

    mutating func expect(_ byte: UInt8) throws {
      guard take(byte) else { throw Malformed(position: position) }
    }

    mutating func value() throws -> JSONValue {
      skipSpace()
      guard position < bytes.count else { throw Malformed(position: position) }
      switch bytes[position] {
      case 0x7B: return try object()
      case 0x5B: return try array()
      case 0x22: return .string(try string())
      case 0x6E: return try word("null", .null)
      case 0x74: return try word("true", .bool(true))
      case 0x66: return try word("false", .bool(false))
      default: return try number()
      }
    }

    mutating func word(_ word: String, _ value: JSONValue) throws -> JSONValue {
      guard bytes[position...].starts(with: word.utf8) else { throw Malformed(position: position) }
      position += word.utf8.count
      return value
    }

    mutating func number() throws -> JSONValue {
      let start = position
      while position < bytes.count {
        // + - . digits e E
        guard case let byte = bytes[position],
          byte >= 0x30 && byte <= 0x39 || byte == 0x2B || byte == 0x2D || byte == 0x2E
            || byte == 0x45 || byte == 0x65
        else { break }
        position += 1
      }
      let text = String(decoding: bytes[start..<position], as: UTF8.self)
      guard Double(text) != nil else { throw Malformed(position: start) }
      return .number(text)
    }

    mutating func string() throws -> String {
      try expect(0x22)
      let start = position
      while position < bytes.count, bytes[position] != 0x22 {
        // The simulator's texts need no escapes.
        guard bytes[position] != 0x5C, bytes[position] >= 0x20 else {
          throw Malformed(position: position)
        }
        position += 1
      }
      let text = String(decoding: bytes[start..<position], as: UTF8.self)
      try expect(0x22)
      return text
    }

    mutating func array() throws -> JSONValue {
      try expect(0x5B)
      var elements: [JSONValue] = []
      if take(0x5D) { return .array([]) }
      repeat { elements.append(try value()) } while take(0x2C)
      try expect(0x5D)
      return .array(elements)
    }

    mutating func object() throws -> JSONValue {
      try expect(0x7B)
      var members: [String: JSONValue] = [:]
      if take(0x7D) { return .object([:]) }
      repeat {
        skipSpace()
        let name = try string()
        try expect(0x3A)
        guard members.updateValue(try value(), forKey: name) == nil else {
          throw Malformed(position: position)
        }
      } while take(0x2C)
      try expect(0x7D)
      return .object(members)
    }
  }
}
