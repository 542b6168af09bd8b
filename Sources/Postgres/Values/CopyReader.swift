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

  /// How many rows have been read so far, by this reader and those before it.
  public var rowCount: Int { stream.rowCount }

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
