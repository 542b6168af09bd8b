internal import Basics
internal import CLibpq
internal import Glibc

/// A `COPY ... TO STDOUT (FORMAT binary)` that was sent: where it stands, and the row that was read last.
///
/// It belongs to a connection, which passes itself to each call.
final class CopyStream {
  /// A row in libpq's memory, which `CopyStream` frees when the next one is read.
  struct Row {
    fileprivate var start: UnsafeRawPointer?
    fileprivate var fields: UnsafePointer<Field>?
    fileprivate var columns = 0
    private(set) var size = 0

    static var none: Row { Row() }

    fileprivate init() {}

    fileprivate init(
      start: UnsafeRawPointer, fields: UnsafePointer<Field>, columns: Int, size: Int
    ) {
      self.start = start
      self.fields = fields
      self.columns = columns
      self.size = size
    }

    /// A value; null for a column that does not exist.
    func value(_ column: Int) -> BinaryValue {
      guard let start, let fields, column >= 0, column < columns, fields[column].length >= 0 else {
        return BinaryValue(nil)
      }
      let field = fields[column]
      return BinaryValue(
        UnsafeRawBufferPointer(start: start + Int(field.offset), count: Int(field.length)))
    }
  }

  /// Where a value is in its row. The length of null is -1.
  struct Field {
    var offset: Int32
    var length: Int32
  }

  /// One message of the server, as libpq returned it.
  private struct Message {
    let start: UnsafeMutablePointer<CChar>
    let size: Int

    func free() { PQfreemem(start) }
  }

  private enum State {
    /// It was sent; the server has not confirmed it yet.
    case sent
    /// The server sends rows.
    case copying
    case ended(PostgresError?)
  }

  /// The statement for errors, without the values in it.
  private let statement: String
  private let columns: Int
  /// The most bytes of a row; nil for no limit.
  private let rowLimit: Int?
  private let fields: UnsafeMutablePointer<Field>
  private var state = State.sent
  private var present: Message?
  /// Rows that were received before they were asked for, because the connection was needed.
  private var buffered: [Message] = []
  private var bufferedRead = 0
  private var hasHeader = false
  private(set) var rowCount = 0
  /// Whether it was cancelled after some rows because the connection was needed.
  private(set) var isCutShort = false

  /// The most bytes of rows that are received at once when the connection is needed for something else.
  private static let bufferedLimit = 4 << 20

  init(statement: SQL, columns: Int, rowLimit: Int?) {
    self.statement = statement.text
    self.columns = columns
    self.rowLimit = rowLimit
    fields = .allocate(capacity: max(columns, 1))
  }

  deinit {
    present?.free()
    for message in buffered[bufferedRead...] { message.free() }
    fields.deallocate()
  }

  /// Whether the connection is busy with it.
  var isUnderWay: Bool {
    if case .ended = state { false } else { true }
  }

  // MARK: - Reading

  /// The next row; nil at the end.
  func nextRow(over connection: Connection) throws(PostgresError) -> Row? {
    present?.free()
    present = nil
    do throws(PostgresError) {
      while let message = try nextMessage(over: connection) {
        present = message
        if let row = try row(of: message) {
          rowCount += 1
          return row
        }
        message.free()
        present = nil
      }
    } catch {
      end(over: connection, after: error)
      throw error
    }
    return nil
  }

  /// Cancels what is under way after an error. A server that was silent is not waited for again.
  private func end(over connection: Connection, after error: PostgresError) {
    if error.kind != .timeout { drop(over: connection) }
    state = .ended(error)
  }

  private func nextMessage(over connection: Connection) throws(PostgresError) -> Message? {
    if bufferedRead < buffered.count {
      bufferedRead += 1
      return buffered[bufferedRead - 1]
    }
    buffered.removeAll()
    bufferedRead = 0
    return try receive(over: connection)
  }

  /// The next message of the server; nil at the end.
  private func receive(over connection: Connection) throws(PostgresError) -> Message? {
    if case .ended(let error) = state {
      if let error { throw error }
      return nil
    }
    if case .sent = state { try begin(over: connection) }
    var start: UnsafeMutablePointer<CChar>?
    let size = PQgetCopyData(connection.connection, &start, 1)
    if size > 0, let start { return try message(start, Int(size)) }
    return size == 0 ? try waitForMessage(over: connection) : try end(over: connection)
  }

  /// A message that has been received whole. A long row may have arrived with one read.
  private func message(
    _ start: UnsafeMutablePointer<CChar>, _ size: Int
  ) throws(PostgresError) -> Message {
    let message = Message(start: start, size: size)
    if let rowLimit, size > rowLimit {
      message.free()
      throw Connection.tooLarge
    }
    return message
  }

  private func waitForMessage(over connection: Connection) throws(PostgresError) -> Message? {
    var patience = Connection.Patience(connection)
    var reads = 0
    var received = 0
    var start: UnsafeMutablePointer<CChar>?
    do throws(PostgresError) {
      while true {
        try connection.wait(for: Int16(POLLIN), &patience)
        // Only a long row takes more than one read.
        let before = reads > 0 ? connection.available : 0
        try connection.takeIn()
        let size = PQgetCopyData(connection.connection, &start, 1)
        if size > 0, let start { return try message(start, Int(size)) }
        if size < 0 { return try end(over: connection) }
        received += max(0, before - (reads > 0 ? connection.available : 0))
        reads += 1
        if let rowLimit, received > rowLimit { throw Connection.tooLarge }
      }
    } catch {
      // The row is incomplete: the connection cannot be used for anything else.
      state = .ended(error)
      throw error
    }
  }

  private func begin(over connection: Connection) throws(PostgresError) {
    let result = try connection.nextResult()
    guard let result else {
      state = .ended(nil)
      throw connection.lost()
    }
    guard PQresultStatus(result) == PGRES_COPY_OUT else {
      state = .ended(nil)
      try finish(over: connection, first: result)
      throw PostgresError(kind: .server, message: "the statement is not a COPY to the client")
    }
    state = .copying
    let count = Int(PQnfields(result))
    PQclear(result)
    guard count == columns else { throw Self.malformed("it has \(count) columns, not \(columns)") }
  }

  /// Reads the server's verdict after the last message.
  private func end(over connection: Connection) throws(PostgresError) -> Message? {
    state = .ended(nil)
    try finish(over: connection)
    return nil
  }

  private func finish(
    over connection: Connection, first: OpaquePointer? = nil
  ) throws(PostgresError) {
    do throws(PostgresError) {
      _ = try connection.lastResult(statement, first: first)
    } catch {
      var error = error
      // The position is one in the text with the values.
      (error.position, error.line) = (nil, nil)
      throw error
    }
  }

  /// The row in a message; nil if it is the end of the rows, or only the header.
  private func row(of message: Message) throws(PostgresError) -> Row? {
    let bytes = UnsafeRawBufferPointer(start: message.start, count: message.size)
    var offset = 0
    if !hasHeader {
      offset = try header(in: bytes)
      hasHeader = true
      if offset == bytes.count { return nil }
    }
    guard bytes.count - offset >= 2 else { throw Self.malformed("a row is cut short") }
    let count = Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self))
    offset += 2
    // The end of the rows.
    if count == -1 { return nil }
    guard count == columns else { throw Self.malformed("a row has \(count) columns") }
    for column in 0..<columns {
      guard bytes.count - offset >= 4 else { throw Self.malformed("a row is cut short") }
      let length = Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
      offset += 4
      guard Int(length) <= bytes.count - offset else { throw Self.malformed("a row is cut short") }
      fields[column] = Field(offset: Int32(offset), length: length)
      offset += max(0, Int(length))
    }
    return Row(
      start: UnsafeRawPointer(message.start), fields: UnsafePointer(fields), columns: columns,
      size: message.size)
  }

  private static func malformed(_ how: String) -> PostgresError {
    PostgresError(kind: .connection, message: "could not read the rows of a COPY: \(how)")
  }

  /// Checks the header, and returns its size: signature, flags, length of an extension, extension.
  private func header(in bytes: UnsafeRawBufferPointer) throws(PostgresError) -> Int {
    let size = 11 + 8
    guard bytes.count >= size else { throw Self.malformed("its header is cut short") }
    let extra = Int(
      UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: size - 4, as: UInt32.self)))
    guard extra <= bytes.count - size else { throw Self.malformed("its header is cut short") }
    return size + extra
  }

  // MARK: - Ending early

  /// Receives the rest, because the connection is needed for something else. If that is more than the limit,
  /// the server is told to stop, and `isCutShort` is set.
  func receiveRest(over connection: Connection) throws(PostgresError) {
    var size = buffered[bufferedRead...].reduce(0) { $0 + $1.size }
    do throws(PostgresError) {
      while let message = try receive(over: connection) {
        buffered.append(message)
        size += message.size
        guard size < Self.bufferedLimit else {
          try discard(over: connection)
          // The end of the rows may be among those that were received.
          isCutShort = true
          return
        }
      }
    } catch {
      // Read after the rows that came before it.
      end(over: connection, after: error)
      guard error.kind == .server || error.kind == .tooLarge else { throw error }
    }
  }

  /// Cancels what is still under way, and discards its rows.
  func drop(over connection: Connection) {
    // If this fails the connection is lost, and the next statement says so.
    do throws(PostgresError) { try discard(over: connection) } catch {}
  }

  /// - Throws: `PostgresError` if the connection is lost. That the statement was cancelled is no error.
  private func discard(over connection: Connection) throws(PostgresError) {
    guard isUnderWay else { return }
    var isCopying = false
    if case .copying = state { isCopying = true }
    state = .ended(nil)
    do throws(PostgresError) {
      if isCopying { try connection.dropCopy() }
      // If it is not confirmed yet, this cancels it when it is.
      _ = try connection.lastResult(statement)
    } catch {
      guard error.kind == .server else { throw error }
    }
  }
}
