internal import CLibpq
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
  public mutating func append(_ bytes: UnsafeRawBufferPointer) {
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

/// The rows that `COPY ... TO STDOUT` sends in the binary format, one at a time.
///
/// Made by `Connection.copyOut` and `readPrefetchedCopy`. It has one owner, the function that is called with
/// it. A row stays in the memory in which libpq received it; nothing is copied.
public struct CopyReader: ~Copyable {
  private let connection: Connection
  private let stream: CopyStream
  private var row = CopyStream.Row.none

  init(_ connection: Connection, _ stream: CopyStream) {
    self.connection = connection
    self.stream = stream
  }

  /// The size of the present row in bytes.
  public var rowSize: Int { row.size }

  /// Whether rows are missing at the end, because another statement ran on the connection before they had
  /// been read.
  public var isCutShort: Bool { stream.isCutShort }

  /// Reads the next row. The values of the row before are no longer valid.
  ///
  /// - Returns: Whether there is one.
  /// - Throws: `PostgresError` of the server's, or of kind `connection` if a row does not have the number of
  ///   columns that the caller of the statement expects, or the lengths in it do not fit.
  public mutating func nextRow() throws(PostgresError) -> Bool {
    row = .none
    guard let next = try stream.nextRow(over: connection) else { return false }
    row = next
    return true
  }

  /// A value of the present row, valid until the next one is read.
  public func value(_ column: Int) -> BinaryValue {
    row.value(column)
  }
}

/// Sends rows to the server in the binary format of COPY, through one send buffer.
///
/// Made by `Connection.copyIn`. For each row call `beginRow`, then append one value for each column to `values`. It
/// has one owner, the function that called `copyIn`.
public struct CopyWriter: ~Copyable {
  private let connection: Connection
  /// 64 to 256 KiB are equally fast; one `PQputCopyData` a row is not.
  private static let capacity = 128 * 1024
  /// What has not been passed to libpq.
  public var values = CopyValues()

  init(connection: Connection) {
    self.connection = connection
    // Signature, flags (none), length of the header's extension (none).
    let header: [UInt8] = [
      0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00, 0, 0, 0, 0, 0, 0, 0, 0,
    ]
    header.withUnsafeBytes { values.append($0) }
  }

  /// Begins a row of `columnCount` columns.
  public mutating func beginRow(columnCount: Int) throws(PostgresError) {
    if values.count >= Self.capacity { try flush() }
    values.columnCount(columnCount)
  }

  /// Sends the remaining bytes and the trailer. `Connection.copyIn` reads the server's answer.
  mutating func finish() throws(PostgresError) {
    values.columnCount(-1)
    try flush()
  }

  private mutating func flush() throws(PostgresError) {
    try connection.putCopyData(values)
    values.removeAll()
  }
}
