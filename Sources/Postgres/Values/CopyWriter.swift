internal import CLibpq

/// Sends rows to the server in the binary format of COPY, through one send buffer.
///
/// Made by `Connection.copyIn`. For each row call `beginRow`, then one value or `null` for each
/// column. It has one owner, the function that called `copyIn`.
public struct CopyWriter: ~Copyable {
  private let connection: Connection
  /// 64 to 256 KiB are equally fast; one `PQputCopyData` a row is not.
  private static let capacity = 128 * 1024
  private var buffer = CopyValues()
  /// The number of bytes passed to libpq.
  public private(set) var bytesSent = 0

  init(connection: Connection) {
    self.connection = connection
    // Signature, flags (none), length of the header's extension (none).
    let header: [UInt8] = [
      0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00, 0, 0, 0, 0, 0, 0, 0, 0,
    ]
    header.withUnsafeBytes { buffer.append($0) }
  }

  private mutating func flushIfFull() throws(PostgresError) {
    if buffer.count >= Self.capacity { try flush() }
  }

  private mutating func flush() throws(PostgresError) {
    guard buffer.count > 0 else { return }
    try connection.putCopyData(buffer)
    bytesSent += buffer.count
    buffer.removeAll()
  }

  /// Begins a row of `columnCount` columns.
  public mutating func beginRow(columnCount: Int) throws(PostgresError) {
    buffer.columnCount(columnCount)
    try flushIfFull()
  }

  /// Values that were encoded before, of one or more columns.
  public mutating func values(_ bytes: UnsafeRawBufferPointer) throws(PostgresError) {
    buffer.append(bytes)
    try flushIfFull()
  }

  /// A null.
  public mutating func null() throws(PostgresError) {
    buffer.null()
    try flushIfFull()
  }

  /// A text, as UTF-8 without NUL.
  public mutating func text(_ utf8: UnsafeRawBufferPointer) throws(PostgresError) {
    buffer.text(utf8)
    try flushIfFull()
  }

  /// A `bytea`.
  public mutating func bytes(_ value: UnsafeRawBufferPointer) throws(PostgresError) {
    // The binary formats of `bytea` and `text` are both the bytes themselves.
    try text(value)
  }

  /// A text.
  public mutating func text(_ value: String) throws(PostgresError) {
    buffer.text(value)
    try flushIfFull()
  }

  /// A `smallint`.
  public mutating func int2(_ value: Int16) throws(PostgresError) {
    buffer.int2(value)
    try flushIfFull()
  }

  /// An `integer`.
  public mutating func int4(_ value: Int32) throws(PostgresError) {
    buffer.int4(value)
    try flushIfFull()
  }

  /// A `bigint`.
  public mutating func int8(_ value: Int64) throws(PostgresError) {
    buffer.int8(value)
    try flushIfFull()
  }

  /// A `double precision`.
  public mutating func float8(_ value: Double) throws(PostgresError) {
    buffer.float8(value)
    try flushIfFull()
  }

  /// A `timestamptz`, from microseconds since 1970-01-01T00:00:00Z.
  public mutating func timestamp(microseconds: Int64) throws(PostgresError) {
    buffer.timestamp(microseconds: microseconds)
    try flushIfFull()
  }

  /// A `boolean`.
  public mutating func bool(_ value: Bool) throws(PostgresError) {
    buffer.bool(value)
    try flushIfFull()
  }

  /// Sends the remaining bytes and the trailer. `Connection.copyIn` reads the server's answer.
  mutating func finish() throws(PostgresError) {
    buffer.columnCount(-1)
    try flush()
  }
}
