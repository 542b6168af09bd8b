/// A value in the binary format. It is valid only as long as its result exists.
///
/// Each accessor returns nil for null, and for a value that does not have the size of its type.
public struct BinaryValue {
  /// The bytes; nil for null.
  public let bytes: UnsafeRawBufferPointer?

  init(_ bytes: UnsafeRawBufferPointer?) {
    self.bytes = bytes
  }

  /// Whether it is null.
  public var isNull: Bool { bytes == nil }

  /// A value of a text type.
  public var text: String? {
    bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  /// An integer of 2, 4 or 8 bytes.
  public var integer: Int64? {
    guard let bytes else { return nil }
    switch bytes.count {
    case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    default: return nil
    }
  }

  /// A `double precision`.
  public var double: Double? {
    guard let bytes, bytes.count == 8 else { return nil }
    return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
  }

  /// A `boolean`.
  public var bool: Bool? {
    bytes?.first.map { $0 != 0 }
  }

  /// A `timestamptz`, as microseconds since 1970-01-01T00:00:00Z; the first and the last `Int64` for
  /// the infinite ones.
  public var timestamp: Int64? {
    integer.map { value in
      if value == .min { return .min }
      let (microseconds, overflow) = value.addingReportingOverflow(postgresEpochMicroseconds)
      return overflow ? .max : microseconds
    }
  }

  /// The elements of a `text[]` of one dimension and without nulls.
  public var textArray: [String]? { [String](.binary(self)) }

  /// Calls `body` with each element of an array of at most one dimension.
  ///
  /// - Returns: Whether it is such an array.
  func forEachElement(_ body: (SQLValue) -> Void) -> Bool {
    // Dimensions, flags, element type; then for each dimension its length and lower bound.
    guard let bytes, bytes.count >= 12 else { return false }
    let dimensions = bytes.int32(at: 0)
    guard dimensions != 0 else { return true }
    guard dimensions == 1, bytes.count >= 20, bytes.int32(at: 12) >= 0 else { return false }
    var offset = 20
    for _ in 0..<bytes.int32(at: 12) {
      guard offset + 4 <= bytes.count else { return false }
      let length = bytes.int32(at: offset)
      offset += 4
      guard length >= 0 else {
        body(.null)
        continue
      }
      guard offset + length <= bytes.count else { return false }
      let element = UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)])
      body(.binary(BinaryValue(element)))
      offset += length
    }
    return true
  }
}

/// The fields of a value of a composite type in the binary format, one after the other, in the order
/// of the type's attributes.
///
/// Selecting a whole row as one composite value costs the server less than selecting its columns: each node
/// of a plan, and the description of the result, has one column instead of dozens.
public struct CompositeFields {
  private var rest: UnsafeRawBufferPointer
  /// Whether a requested field was missing or incomplete.
  public private(set) var isCutShort = false

  /// The fields of a value; nil if it is null.
  public init?(_ value: BinaryValue) {
    // The value begins with the number of fields.
    guard let bytes = value.bytes, bytes.count >= 4 else { return nil }
    rest = UnsafeRawBufferPointer(rebasing: bytes[4...])
  }

  /// The next field; null after the last.
  public mutating func next() -> BinaryValue {
    // The field's type, its length (-1 for null), and its bytes.
    guard rest.count >= 8 else { return cutShort() }
    let length = rest.int32(at: 4)
    let end = 8 + max(0, length)
    guard end <= rest.count else { return cutShort() }
    let bytes = UnsafeRawBufferPointer(rebasing: rest[8..<end])
    rest = UnsafeRawBufferPointer(rebasing: rest[end...])
    return BinaryValue(length < 0 ? nil : bytes)
  }

  private mutating func cutShort() -> BinaryValue {
    rest = UnsafeRawBufferPointer(start: nil, count: 0)
    isCutShort = true
    return BinaryValue(nil)
  }

  /// Skips fields.
  public mutating func skip(_ count: Int) {
    for _ in 0..<count { _ = next() }
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func int32(at offset: Int) -> Int {
    Int(Int32(bigEndian: loadUnaligned(fromByteOffset: offset, as: Int32.self)))
  }
}

/// PostgreSQL counts time from 2000-01-01; this is that moment in microseconds since 1970-01-01.
let postgresEpochMicroseconds: Int64 = 946_684_800_000_000
