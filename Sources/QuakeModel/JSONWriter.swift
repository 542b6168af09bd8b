/// Writes JSON straight into a byte buffer, in the order of the calls; commas are put by itself.
public struct JSONWriter: Sendable {
  /// What has been written so far.
  public private(set) var bytes: [UInt8] = []
  private var needsComma = false

  /// An empty buffer.
  public init() {}

  /// Empties the buffer; keeps the memory.
  public mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  private mutating func beginValue() {
    if needsComma { bytes.append(0x2C) }
    needsComma = true
  }

  /// Writes `{`, what `body` writes, and `}`.
  public mutating func object(_ body: (inout JSONWriter) -> Void) {
    beginValue()
    bytes.append(0x7B)
    needsComma = false
    body(&self)
    bytes.append(0x7D)
    needsComma = true
  }

  /// Writes `[`, what `body` writes, and `]`.
  public mutating func array(_ body: (inout JSONWriter) -> Void) {
    beginValue()
    bytes.append(0x5B)
    needsComma = false
    body(&self)
    bytes.append(0x5D)
    needsComma = true
  }

  /// Writes a member's name; its value must follow.
  public mutating func key(_ name: StaticString) {
    beginValue()
    bytes.append(0x22)
    name.withUTF8Buffer { bytes.append(contentsOf: $0) }
    bytes.append(0x22)
    bytes.append(0x3A)
    needsComma = false
  }

  /// Writes a member's name that is not known at compile time; its value must follow.
  public mutating func key(dynamic name: String) {
    string(name)
    bytes.append(0x3A)
    needsComma = false
  }

  /// Writes `null`.
  public mutating func null() {
    beginValue()
    bytes.append(contentsOf: "null".utf8)
  }

  /// Writes `true` or `false`.
  public mutating func bool(_ value: Bool) {
    beginValue()
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// Writes an integer.
  public mutating func integer(_ value: Int) {
    beginValue()
    appendDecimal(value)
  }

  /// Writes a number with as few digits as give the same double back; NaN and the infinities, which
  /// JSON cannot hold, as `null`.
  public mutating func double(_ value: Double) {
    guard value.isFinite else { return null() }
    beginValue()
    if let whole = Int(exactly: value), whole.magnitude < 1_000_000_000_000_000 {
      appendDecimal(whole)
    } else {
      bytes.append(contentsOf: value.description.utf8)
    }
  }

  private mutating func appendDecimal(_ value: Int) {
    if value < 0 { bytes.append(0x2D) }
    var magnitude = value.magnitude
    let start = bytes.count
    repeat {
      bytes.append(0x30 + UInt8(magnitude % 10))
      magnitude /= 10
    } while magnitude > 0
    bytes[start...].reverse()
  }

  /// Writes an instant as an ISO 8601 string in UTC.
  public mutating func timestamp(_ value: Timestamp) {
    beginValue()
    bytes.append(0x22)
    value.append(to: &bytes)
    bytes.append(0x22)
  }

  /// Writes a string.
  public mutating func string(_ value: String) {
    var value = value
    value.withUTF8 { string(utf8: UnsafeRawBufferPointer($0)) }
  }

  /// Writes a string from its UTF-8.
  public mutating func string(utf8: UnsafeRawBufferPointer) {
    beginValue()
    bytes.append(0x22)
    var run = 0
    for index in 0..<utf8.count {
      let byte = utf8[index]
      guard byte < 0x20 || byte == 0x22 || byte == 0x5C else { continue }
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: utf8[run..<index]))
      run = index + 1
      switch byte {
      case 0x22, 0x5C: bytes += [0x5C, byte]
      case 0x0A: bytes += [0x5C, 0x6E]
      case 0x0D: bytes += [0x5C, 0x72]
      case 0x09: bytes += [0x5C, 0x74]
      default:
        bytes += [0x5C, 0x75, 0x30, 0x30, 0x30 + (byte >> 4)]
        let low = byte & 0x0F
        bytes.append(low < 10 ? 0x30 + low : 0x57 + low)
      }
    }
    bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: utf8[run..<utf8.count]))
    bytes.append(0x22)
  }

  /// Writes a string, or `null` where there is none.
  public mutating func string(_ value: String?) {
    if let value { string(value) } else { null() }
  }

  /// Ends a line, so that the next value begins a new one.
  public mutating func newline() {
    bytes.append(0x0A)
    needsComma = false
  }
}
