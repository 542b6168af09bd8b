internal import Glibc

/// Values in the binary format of COPY, one after the other in memory: the buffer of `CopyWriter`, or rows
/// that are encoded in advance.
///
/// It has one owner. Its memory grows with its contents, and is kept when they are removed.
public struct CopyValues: ~Copyable {
  private var memory: UnsafeMutableRawBufferPointer
  /// The size of the values in bytes.
  public private(set) var count = 0

  /// An empty buffer with a capacity in bytes.
  public init(capacity: Int = 4096) {
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit {
    memory.deallocate()
  }

  /// Removes all values.
  public mutating func removeAll() {
    count = 0
  }

  /// Calls `body` with the bytes of `range`, which are valid during the call.
  public borrowing func withBytes(
    _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    try body(UnsafeRawBufferPointer(rebasing: memory[range]))
  }

  /// Whether the values at `range` equal, byte for byte, those of a row of `result`, which has them in the
  /// binary format in `count` columns from `column` on. The types must have the same binary format.
  public borrowing func isEqual(
    _ range: Range<Int>, to result: borrowing QueryResult, row: Int, from column: Int, count: Int
  ) -> Bool {
    var offset = range.lowerBound
    for index in column..<column + count {
      let length = Int(
        Int32(bigEndian: memory.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
      offset += MemoryLayout<Int32>.size
      guard result.isNull(row, index) == (length < 0) else { return false }
      let stored = result.bytes(row, index)
      if length < 0 || length == 0 && stored.isEmpty { continue }
      guard stored.count == length, let stored = stored.baseAddress,
        let value = memory.baseAddress, memcmp(stored, value + offset, length) == 0
      else { return false }
      offset += length
    }
    return true
  }

  private mutating func reserve(_ more: Int) {
    guard count + more > memory.count else { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(2 * memory.count, count + more), alignment: 16)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
    memory.deallocate()
    memory = larger
  }

  /// Appends an integer. The caller must have reserved its memory.
  private mutating func put<Integer: FixedWidthInteger>(_ value: Integer) {
    memory.storeBytes(of: value.bigEndian, toByteOffset: count, as: Integer.self)
    count += MemoryLayout<Integer>.size
  }

  /// Appends bytes that are already in the format.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  /// Appends the column count that begins a row; -1 ends the rows.
  mutating func columnCount(_ count: Int) {
    reserve(2)
    put(Int16(count))
  }

  /// A null.
  public mutating func null() {
    reserve(4)
    put(Int32(-1))
  }

  /// A text, as UTF-8 without NUL; or a `bytea`.
  public mutating func text(_ utf8: UnsafeRawBufferPointer) {
    reserve(4)
    put(Int32(utf8.count))
    append(utf8)
  }

  /// A text.
  public mutating func text(_ value: String) {
    var value = value
    value.withUTF8 { text(UnsafeRawBufferPointer($0)) }
  }

  /// A `smallint`.
  public mutating func int2(_ value: Int16) {
    reserve(6)
    put(Int32(2))
    put(value)
  }

  /// An `integer`.
  public mutating func int4(_ value: Int32) {
    reserve(8)
    put(Int32(4))
    put(value)
  }

  /// A `bigint`.
  public mutating func int8(_ value: Int64) {
    reserve(12)
    put(Int32(8))
    put(value)
  }

  /// A `double precision`.
  public mutating func float8(_ value: Double) {
    reserve(12)
    put(Int32(8))
    put(value.bitPattern)
  }

  /// A `timestamptz`, from microseconds since 1970-01-01T00:00:00Z.
  public mutating func timestamp(microseconds: Int64) {
    int8(microseconds &- postgresEpochMicroseconds)
  }

  /// A `boolean`.
  public mutating func bool(_ value: Bool) {
    reserve(5)
    put(Int32(1))
    put(UInt8(value ? 1 : 0))
  }
}
