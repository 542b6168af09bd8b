internal import Basics

/// Writes JSON to a byte buffer in the order of the calls, and inserts commas.
public struct JSONWriter: Sendable {
  var out = TextWriter()
  private var needsComma = false
  /// The transaction of the change that was written last, as text: the changes of a transaction follow each
  /// other.
  var transactionText: TransactionText?

  /// Whether the role, the process id and the client's address of the session that made a change, and its import,
  /// are written as null. Set it before the first change.
  package var hidesSessions = false

  /// An empty buffer.
  public init() {}

  /// How many bytes have been written so far.
  public var count: Int { out.count }

  /// A copy of the bytes written so far.
  public var bytes: [UInt8] { out.contents }

  /// Empties the buffer, and returns its contents with the memory.
  public mutating func take() -> [UInt8] {
    needsComma = false
    return out.take()
  }

  /// Calls `body` with what has been written so far.
  public func withBytes(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try out.withBytes(body)
  }

  /// Empties the buffer; keeps the memory.
  public mutating func removeAll() {
    out.removeAll()
    needsComma = false
  }

  // MARK: - Structure

  /// Empties the buffer in the middle of a value that does not fit into memory; keeps the memory.
  public mutating func removeWritten() { out.removeAll() }

  /// Called while a long value is being written. It empties the buffer with `removeWritten`, or lets it grow.
  public typealias Drain = (inout JSONWriter) throws -> Void

  /// The number of bytes of a long value that are kept before the drain is called.
  static let drainedSize = 64 * 1024

  /// Writes `{`, what `body` writes, and `}`.
  public mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
    beginObject()
    try body(&self)
    endObject()
  }

  /// Writes `[`, what `body` writes, and `]`.
  public mutating func array(_ body: (inout JSONWriter) -> Void) {
    beginArray()
    body(&self)
    endArray()
  }

  /// Writes `{`; members and `endObject` must follow.
  public mutating func beginObject() { begin(0x7B) }

  /// Writes `}`.
  public mutating func endObject() { end(0x7D) }

  /// Writes `[`; elements and `endArray` must follow.
  public mutating func beginArray() { begin(0x5B) }

  /// Writes `]`.
  public mutating func endArray() { end(0x5D) }

  private mutating func begin(_ bracket: UInt8) {
    beginValue()
    out.byte(bracket)
    needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    out.byte(bracket)
    needsComma = true
  }

  /// Writes a member's name; its value must follow.
  public mutating func key(_ name: StaticString) {
    let size = name.utf8CodeUnitCount
    let comma = needsComma
    out.write(atMost: size + 4) { place in
      var end = place
      if comma { put(0x2C, &end) }
      put(0x22, &end)
      end.update(from: name.utf8Start, count: size)
      end += size
      put(0x22, &end)
      put(0x3A, &end)
      return end
    }
    needsComma = false
  }

  /// Writes a member with an integer, or with `null` where there is none.
  public mutating func member(_ name: StaticString, _ value: (some BinaryInteger)?) {
    key(name)
    if let value { integer(Int(value)) } else { null() }
  }

  /// Writes a member with a number, or with `null` where there is none.
  public mutating func member(_ name: StaticString, _ value: Double?) {
    key(name)
    double(value)
  }

  /// Writes a member with a string, or with `null` where there is none.
  public mutating func member(_ name: StaticString, _ value: String?) {
    key(name)
    string(value)
  }

  /// Writes a member with an instant, or with `null` where there is none.
  public mutating func member(_ name: StaticString, _ value: Timestamp?) {
    key(name)
    timestamp(value)
  }

  /// Writes a member that is `true` or `false`.
  public mutating func member(_ name: StaticString, _ value: Bool) {
    key(name)
    bool(value)
  }

  /// Writes a member with an array of strings.
  public mutating func member(_ name: StaticString, _ values: [String]) {
    array(name) { json in for value in values { json.string(value) } }
  }

  /// Writes a member with the value a record has in a column.
  public mutating func member(_ name: StaticString, of column: EventColumn, in record: EventRecord)
  {
    key(name)
    value(of: column, in: record)
  }

  /// Writes a member with an object.
  public mutating func object(
    _ name: StaticString, _ body: (inout JSONWriter) throws -> Void
  ) rethrows {
    key(name)
    try object(body)
  }

  /// Writes a member with an array.
  public mutating func array(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
    key(name)
    array(body)
  }

  /// Writes a member with `[`; elements and `endArray` must follow.
  public mutating func beginArray(_ name: StaticString) {
    key(name)
    beginArray()
  }

  /// Writes a member that is `null`.
  public mutating func null(_ name: StaticString) {
    key(name)
    null()
  }

  /// Writes a member's name with its quotes and its colon, or several members and the name of the next; a
  /// value must follow.
  mutating func members(_ text: StaticString) {
    if needsComma { out.byte(0x2C) }
    out.literal(text)
    needsComma = false
  }

  /// Writes a part of a value that was written before; what follows depends on the part.
  mutating func part(_ text: [UInt8]) {
    text.withUnsafeBytes { out.bytes($0) }
    needsComma = false
  }

  /// Writes a member's name that is not known at compile time; its value must follow.
  public mutating func key(dynamic name: String) {
    string(name)
    out.byte(0x3A)
    needsComma = false
  }

  /// Ends a line, so that the next value begins a new one.
  public mutating func newline() {
    out.byte(0x0A)
    needsComma = false
  }

  /// Writes the comma after an element of an array, and begins a new line for the next element.
  public mutating func commaAndNewline() {
    out.byte(0x2C)
    newline()
  }

  // MARK: - Values

  /// Writes `null`.
  public mutating func null() { literal("null") }

  /// Writes `true` or `false`.
  public mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }

  private mutating func literal(_ text: StaticString) {
    beginValue()
    out.literal(text)
  }

  /// Writes an integer.
  public mutating func integer(_ value: Int) {
    beginValue()
    out.integer(value)
  }

  /// Writes a number with the fewest digits that parse to the same double. NaN and the infinities, which JSON
  /// does not have, become `null`.
  public mutating func double(_ value: Double) {
    guard value.isFinite else { return null() }
    beginValue()
    out.double(value)
  }

  /// Writes a number, or `null` where there is none.
  public mutating func double(_ value: Double?) {
    if let value { double(value) } else { null() }
  }

  /// Writes an instant, or `null` where there is none.
  public mutating func timestamp(_ value: Timestamp?) {
    if let value { timestamp(value) } else { null() }
  }

  /// Writes an instant as an ISO 8601 string in UTC.
  public mutating func timestamp(_ value: Timestamp) {
    beginValue()
    out.write(atMost: Timestamp.longestText + 2) { place in
      var end = place
      put(0x22, &end)
      end = value.put(end)
      put(0x22, &end)
      return end
    }
  }

  /// Writes a string.
  public mutating func string(_ value: String) {
    var value = value
    value.withUTF8 { string(utf8: UnsafeRawBufferPointer($0)) }
  }

  /// Writes a string, or `null` where there is none.
  public mutating func string(_ value: String?) {
    if let value { string(value) } else { null() }
  }

  /// Writes a string from its UTF-8.
  public mutating func string(utf8: UnsafeRawBufferPointer) {
    beginValue()
    out.write(atMost: EscapedText.capacity(for: utf8.count) + 2) { place in
      var end = place
      put(0x22, &end)
      EscapedText.put(utf8, &end)
      put(0x22, &end)
      return end
    }
  }

  mutating func beginValue() {
    if needsComma { out.byte(0x2C) }
    needsComma = true
  }
}

/// Writes a byte, and advances the pointer.
@inline(__always)
func put(_ byte: UInt8, _ end: inout UnsafeMutablePointer<UInt8>) {
  end.pointee = byte
  end += 1
}
