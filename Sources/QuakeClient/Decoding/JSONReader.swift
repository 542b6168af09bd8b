internal import Basics

/// Reads JSON in the order of the text, without a tree: its caller names the members that it wants.
struct JSONReader {
  /// The text is not JSON, or not what the caller wants.
  struct Invalid: Error {
    /// Where, in bytes.
    let place: Int
    /// What is wrong there.
    let problem: String
  }

  /// A string in the text: its bytes there if it has no escapes, else a copy.
  enum StringValue {
    case plain(UnsafeRawBufferPointer)
    case copy([UInt8])

    func withBytes<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> Value {
      switch self {
      case .plain(let bytes): body(bytes)
      case .copy(let bytes): bytes.withUnsafeBytes(body)
      }
    }

    var text: String { withBytes { String(decoding: $0, as: UTF8.self) } }
  }

  private let bytes: UnsafeRawBufferPointer
  private(set) var place = 0
  private var depth = 0

  /// How deep arrays and objects may be in each other.
  private static let deepest = 64

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  func invalid(_ problem: String) -> Invalid { Invalid(place: place, problem: problem) }

  // MARK: - Structure

  private mutating func skipSpace() {
    while place < bytes.count {
      switch bytes[place] {
      case 0x20, 0x09, 0x0A, 0x0D: place += 1
      default: return
      }
    }
  }

  /// The first byte of the next token.
  private mutating func peek() throws(Invalid) -> UInt8 {
    skipSpace()
    guard place < bytes.count else { throw invalid("the text ends too early") }
    return bytes[place]
  }

  private mutating func skip(_ byte: UInt8) throws(Invalid) -> Bool {
    guard try peek() == byte else { return false }
    place += 1
    return true
  }

  private mutating func expect(_ byte: UInt8, _ what: String) throws(Invalid) {
    guard try skip(byte) else { throw invalid("expected \(what)") }
  }

  private mutating func enter() throws(Invalid) {
    depth += 1
    guard depth <= Self.deepest else {
      throw invalid("more than \(Self.deepest) arrays and objects in each other")
    }
  }

  /// Reads an object. `body` must read or skip the value of each member.
  mutating func object(
    _ body: (inout JSONReader, _ name: StringValue) throws(Invalid) -> Void
  ) throws(Invalid) {
    try expect(0x7B, "an object")
    try enter()
    defer { depth -= 1 }
    if try skip(0x7D) { return }
    repeat {
      let name = try string()
      try expect(0x3A, "a colon")
      try body(&self, name)
    } while try skip(0x2C)
    try expect(0x7D, "a comma or the end of an object")
  }

  /// Reads an array. `body` must read or skip each element.
  mutating func array(_ body: (inout JSONReader) throws(Invalid) -> Void) throws(Invalid) {
    try expect(0x5B, "an array")
    try enter()
    defer { depth -= 1 }
    if try skip(0x5D) { return }
    repeat { try body(&self) } while try skip(0x2C)
    try expect(0x5D, "a comma or the end of an array")
  }

  /// Makes sure that nothing follows.
  mutating func end() throws(Invalid) {
    skipSpace()
    guard place == bytes.count else { throw invalid("expected the end of the text") }
  }

  /// Skips a value of any kind, which must be valid.
  mutating func skipValue() throws(Invalid) {
    switch try peek() {
    case 0x7B: try object { reader, _ throws(Invalid) in try reader.skipValue() }
    case 0x5B: try array { reader throws(Invalid) in try reader.skipValue() }
    case 0x22: _ = try string()
    case 0x74, 0x66: _ = try bool()
    case 0x6E: _ = try null()
    default: _ = try number()
    }
  }

  /// The bytes from a place to here.
  func bytes(from start: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[start..<place])
  }

  /// The place of the next token.
  mutating func nextPlace() -> Int {
    skipSpace()
    return place
  }

  // MARK: - Values

  private mutating func word(_ text: StaticString) -> Bool {
    let size = text.utf8CodeUnitCount
    guard place + size <= bytes.count else { return false }
    for offset in 0..<size where bytes[place + offset] != text.utf8Start[offset] { return false }
    place += size
    return true
  }

  /// Skips a null; false if there is another value.
  mutating func null() throws(Invalid) -> Bool {
    guard try peek() == 0x6E else { return false }
    guard word("null") else { throw invalid("expected a value") }
    return true
  }

  mutating func bool() throws(Invalid) -> Bool {
    _ = try peek()
    if word("true") { return true }
    guard word("false") else { throw invalid("expected true or false") }
    return false
  }

  /// A number's text, which has the form of JSON.
  private mutating func number() throws(Invalid) -> UnsafeRawBufferPointer {
    _ = try peek()
    let start = place
    func digit() -> Bool { place < bytes.count && (0x30...0x39).contains(bytes[place]) }
    func at(_ byte: UInt8) -> Bool { place < bytes.count && bytes[place] == byte }
    if at(0x2D) { place += 1 }
    guard digit() else { throw invalid("expected a value") }
    if at(0x30) {
      place += 1
    } else {
      while digit() { place += 1 }
    }
    if at(0x2E) {
      place += 1
      guard digit() else { throw invalid("expected a digit") }
      while digit() { place += 1 }
    }
    if at(0x65) || at(0x45) {
      place += 1
      if at(0x2B) || at(0x2D) { place += 1 }
      guard digit() else { throw invalid("expected a digit") }
      while digit() { place += 1 }
    }
    return bytes(from: start)
  }

  mutating func integer() throws(Invalid) -> Int64 {
    let text = try number()
    guard let value = Int64(String(decoding: text, as: UTF8.self)) else {
      throw invalid("expected an integer of 64 bits")
    }
    return value
  }

  mutating func double() throws(Invalid) -> Double {
    let text = try number()
    if let value = Self.shortDecimal(text) { return value }
    guard let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else {
      throw invalid("expected a number of 64 bits")
    }
    return value
  }

  /// A number of at most 15 digits without an exponent. Its digits and the power of ten are exact doubles, so
  /// that their quotient is the nearest double.
  private static func shortDecimal(_ text: UnsafeRawBufferPointer) -> Double? {
    guard text.count <= 16 else { return nil }
    var digits: Int64 = 0
    var power = 1.0
    var isFraction = false
    for byte in text {
      switch byte {
      case 0x30...0x39:
        digits = digits * 10 + Int64(byte - 0x30)
        if isFraction { power *= 10 }
      case 0x2E: isFraction = true
      case 0x2D: continue
      default: return nil
      }
    }
    guard digits < 1_000_000_000_000_000 else { return nil }
    let value = Double(digits) / power
    return text[0] == 0x2D ? -value : value
  }

  /// A string, whose UTF-8 is valid.
  mutating func string() throws(Invalid) -> StringValue {
    try expect(0x22, "a string")
    let start = place
    while place < bytes.count {
      let byte = bytes[place]
      switch byte {
      case 0x22:
        defer { place += 1 }
        return .plain(bytes(from: start))
      case 0x5C: return .copy(try unescaped(from: start))
      case 0x20..<0x80: place += 1
      default: try passCharacter()
      }
    }
    throw invalid("a string does not end")
  }

  private mutating func passCharacter() throws(Invalid) {
    guard bytes[place] >= 0x20 else { throw invalid("a control character in a string") }
    guard let (_, length) = UTF8Text.scalar(in: bytes, at: place) else {
      throw invalid("a string is not UTF-8")
    }
    place += length
  }

  /// The rest of a string from its first escape on, after what has been read of it.
  private mutating func unescaped(from start: Int) throws(Invalid) -> [UInt8] {
    var text = Array(bytes(from: start))
    while place < bytes.count {
      let byte = bytes[place]
      if byte == 0x22 {
        place += 1
        return text
      }
      if byte == 0x5C {
        try escape(&text)
      } else {
        let from = place
        try passCharacter()
        text.append(contentsOf: bytes(from: from))
      }
    }
    throw invalid("a string does not end")
  }

  private mutating func escape(_ text: inout [UInt8]) throws(Invalid) {
    guard place + 1 < bytes.count else { throw invalid("a string does not end") }
    let letter = bytes[place + 1]
    place += 2
    switch letter {
    case 0x22, 0x5C, 0x2F: text.append(letter)
    case 0x62: text.append(0x08)
    case 0x66: text.append(0x0C)
    case 0x6E: text.append(0x0A)
    case 0x72: text.append(0x0D)
    case 0x74: text.append(0x09)
    case 0x75:
      var code = try hexadecimal()
      if (0xD800...0xDBFF).contains(code) {
        guard place + 1 < bytes.count, bytes[place] == 0x5C, bytes[place + 1] == 0x75 else {
          throw invalid("an unpaired surrogate in a string")
        }
        place += 2
        let low = try hexadecimal()
        guard (0xDC00...0xDFFF).contains(low) else {
          throw invalid("an unpaired surrogate in a string")
        }
        code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
      }
      guard code != 0, let scalar = Unicode.Scalar(code) else {
        throw invalid("NUL or an invalid code point in a string")
      }
      text.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
    default: throw invalid("an unknown escape in a string")
    }
  }

  private mutating func hexadecimal() throws(Invalid) -> UInt32 {
    guard place + 4 <= bytes.count else { throw invalid("a string does not end") }
    var code: UInt32 = 0
    for _ in 0..<4 {
      let byte = bytes[place]
      switch byte {
      case 0x30...0x39: code = code << 4 | UInt32(byte - 0x30)
      case 0x41...0x46: code = code << 4 | UInt32(byte - 0x37)
      case 0x61...0x66: code = code << 4 | UInt32(byte - 0x57)
      default: throw invalid("expected a hexadecimal digit")
      }
      place += 1
    }
    return code
  }
}
