internal import CLibpq

/// The rows a statement returned, or how many it touched. Frees itself.
///
/// A value is read by row and column, both from 0, with the accessor of its type. Which format the
/// columns have was chosen by the statement's caller: `text` reads either, the others the one their
/// name says.
public struct QueryResult: ~Copyable {
  private let result: OpaquePointer

  init(owning result: OpaquePointer) {
    self.result = result
  }

  deinit {
    PQclear(result)
  }

  /// Hands libpq's result over to the caller, who frees it.
  consuming func release() -> OpaquePointer {
    let result = result
    discard self
    return result
  }

  /// What the server says it did, such as `INSERT 0 7`.
  var commandTag: String {
    PQcmdStatus(result).map { String(cString: $0) } ?? ""
  }

  /// How many rows there are.
  public var rowCount: Int { Int(PQntuples(result)) }

  /// How many columns each row has.
  public var columnCount: Int { Int(PQnfields(result)) }

  /// The name of a column.
  public func columnName(_ column: Int) -> String {
    PQfname(result, Int32(column)).map { String(cString: $0) } ?? ""
  }

  /// How many rows the statement inserted, updated, deleted or copied; 0 for any other.
  public var affectedRows: Int {
    PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
  }

  /// Whether a value is null.
  public func isNull(_ row: Int, _ column: Int) -> Bool {
    PQgetisnull(result, Int32(row), Int32(column)) != 0
  }

  /// A value's bytes as they came, valid while the result lives; empty for null.
  public func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(result, Int32(row), Int32(column)),
      count: Int(PQgetlength(result, Int32(row), Int32(column))))
  }

  /// A value of a text type, or of any type in the text format; nil for null.
  public func text(_ row: Int, _ column: Int) -> String? {
    isNull(row, column) ? nil : String(decoding: bytes(row, column), as: UTF8.self)
  }

  /// An integer in the text format; nil for null.
  public func integer(_ row: Int, _ column: Int) -> Int64? {
    text(row, column).flatMap { Int64($0) }
  }

  /// A boolean in the text format; nil for null.
  public func bool(_ row: Int, _ column: Int) -> Bool? {
    text(row, column).map { $0 == "t" }
  }

  /// An integer of 2, 4 or 8 bytes in the binary format; nil for null.
  public func binaryInteger(_ row: Int, _ column: Int) -> Int64? {
    guard !isNull(row, column) else { return nil }
    let bytes = bytes(row, column)
    switch bytes.count {
    case 2: return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 4: return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 8: return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    default: return nil
    }
  }

  /// A `double precision` in the binary format; nil for null.
  public func binaryDouble(_ row: Int, _ column: Int) -> Double? {
    guard !isNull(row, column) else { return nil }
    let bytes = bytes(row, column)
    guard bytes.count == 8 else { return nil }
    return Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
  }

  /// A `boolean` in the binary format; nil for null.
  public func binaryBool(_ row: Int, _ column: Int) -> Bool? {
    isNull(row, column) ? nil : bytes(row, column).first.map { $0 != 0 }
  }

  /// A `timestamptz` in the binary format, as microseconds since 1970-01-01T00:00:00Z; the first and
  /// the last `Int64` for the infinite ones; nil for null.
  public func binaryTimestamp(_ row: Int, _ column: Int) -> Int64? {
    binaryInteger(row, column).map { value in
      if value == .min { return .min }
      let (microseconds, overflow) = value.addingReportingOverflow(postgresEpochMicroseconds)
      return overflow ? .max : microseconds
    }
  }

  /// The elements of a `text[]` without nulls in the binary format; nil for null.
  public func binaryTextArray(_ row: Int, _ column: Int) -> [String]? {
    guard !isNull(row, column) else { return nil }
    let bytes = bytes(row, column)
    // Dimensions, flags, element type; then for each dimension its length and lower bound.
    guard bytes.count >= 12 else { return nil }
    func int32(at offset: Int) -> Int {
      Int(Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
    }
    guard int32(at: 0) == 1, bytes.count >= 20 else { return [] }
    var elements: [String] = []
    var offset = 20
    for _ in 0..<int32(at: 12) {
      guard offset + 4 <= bytes.count else { return nil }
      let length = max(0, int32(at: offset))
      offset += 4
      guard offset + length <= bytes.count else { return nil }
      elements.append(
        String(
          decoding: UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)]),
          as: UTF8.self))
      offset += length
    }
    return elements
  }
}

/// PostgreSQL counts time from 2000-01-01; this is that moment in microseconds since 1970-01-01.
let postgresEpochMicroseconds: Int64 = 946_684_800_000_000
