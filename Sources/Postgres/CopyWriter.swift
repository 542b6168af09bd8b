internal import CLibpq

/// Sends rows to the server in the binary format of COPY, from raw memory, without a copy of its own
/// beyond one send buffer.
///
/// Made by `Connection.copyIn`. For each row call `beginRow`, then one value or `null` for each
/// column. It has one owner, the function that called `copyIn`.
public struct CopyWriter: ~Copyable {
  private let connection: Connection
  /// 64 to 256 KiB are equally fast; one `PQputCopyData` a row is not.
  private static let capacity = 128 * 1024
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
  private var used = 0
  /// How many bytes have been handed to libpq.
  public private(set) var bytesSent = 0

  init(connection: Connection) {
    self.connection = connection
    // Signature, flags (none), length of the header's extension (none).
    let header: [UInt8] = [
      0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00, 0, 0, 0, 0, 0, 0, 0, 0,
    ]
    buffer.copyBytes(from: header)
    used = header.count
  }

  deinit {
    buffer.deallocate()
  }

  private mutating func reserve(_ count: Int) throws(PostgresError) {
    if used + count > buffer.count { try flush() }
  }

  private mutating func flush() throws(PostgresError) {
    guard used > 0 else { return }
    try connection.putCopyData(UnsafeRawBufferPointer(rebasing: buffer[..<used]))
    bytesSent += used
    used = 0
  }

  private mutating func put<Integer: FixedWidthInteger>(_ value: Integer) {
    buffer.storeBytes(of: value.bigEndian, toByteOffset: used, as: Integer.self)
    used += MemoryLayout<Integer>.size
  }

  /// Begins a row of `columnCount` columns.
  public mutating func beginRow(columnCount: Int) throws(PostgresError) {
    try reserve(2)
    put(Int16(columnCount))
  }

  /// A null.
  public mutating func null() throws(PostgresError) {
    try reserve(4)
    put(Int32(-1))
  }

  /// A text, as UTF-8 without NUL.
  public mutating func text(_ utf8: UnsafeRawBufferPointer) throws(PostgresError) {
    try reserve(4)
    put(Int32(utf8.count))
    if used + utf8.count > buffer.count {
      try flush()
      if utf8.count > buffer.count {
        try connection.putCopyData(utf8)
        bytesSent += utf8.count
        return
      }
    }
    UnsafeMutableRawBufferPointer(rebasing: buffer[used...]).copyMemory(from: utf8)
    used += utf8.count
  }

  /// A `bytea`.
  public mutating func bytes(_ value: UnsafeRawBufferPointer) throws(PostgresError) {
    // In the binary form a text is its bytes, too.
    try text(value)
  }

  /// A text.
  public mutating func text(_ value: String) throws(PostgresError) {
    let utf8 = Array(value.utf8)
    var failure: PostgresError?
    utf8.withUnsafeBytes { bytes in
      do throws(PostgresError) { try text(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// A `smallint`.
  public mutating func int2(_ value: Int16) throws(PostgresError) {
    try reserve(6)
    put(Int32(2))
    put(value)
  }

  /// An `integer`.
  public mutating func int4(_ value: Int32) throws(PostgresError) {
    try reserve(8)
    put(Int32(4))
    put(value)
  }

  /// A `bigint`.
  public mutating func int8(_ value: Int64) throws(PostgresError) {
    try reserve(12)
    put(Int32(8))
    put(value)
  }

  /// A `double precision`.
  public mutating func float8(_ value: Double) throws(PostgresError) {
    try reserve(12)
    put(Int32(8))
    put(value.bitPattern)
  }

  /// A `timestamptz`, from microseconds since 1970-01-01T00:00:00Z.
  public mutating func timestamp(microseconds: Int64) throws(PostgresError) {
    try int8(microseconds &- postgresEpochMicroseconds)
  }

  /// A `boolean`.
  public mutating func bool(_ value: Bool) throws(PostgresError) {
    try reserve(5)
    put(Int32(1))
    put(UInt8(value ? 1 : 0))
  }

  /// Sends the rest and the trailer. The server's verdict comes from `Connection.copyIn`.
  mutating func finish() throws(PostgresError) {
    try reserve(2)
    put(Int16(-1))
    try flush()
  }
}
