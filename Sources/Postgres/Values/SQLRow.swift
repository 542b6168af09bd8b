internal import CLibpq

/// A row of a result, whose values are read by the names of their columns: `try row["name"]`. It is valid only
/// in the function that is called with it.
public struct SQLRow: ~Copyable {
  private let result: OpaquePointer
  private let row: Int
  private let names: ColumnNames

  init(_ result: OpaquePointer, _ row: Int, _ names: ColumnNames) {
    self.result = result
    self.row = row
    self.names = names
  }

  /// The value of a column.
  ///
  /// - Throws: `PostgresError` of kind `unreadable` if there is no such column, or its value is not of the
  ///   type; null is of no type but an optional one.
  public subscript<Value: SQLDecodable>(column: StaticString) -> Value {
    get throws(PostgresError) {
      try SQLRow.read(result, row, try names.index(of: column, in: result))
    }
  }

  /// The bytes of a value, valid as long as the row; empty for null. For values that are copied without a
  /// `String` of each.
  ///
  /// - Throws: `PostgresError` of kind `unreadable` if there is no such column.
  public func bytes(_ column: StaticString) throws(PostgresError) -> UnsafeRawBufferPointer {
    let column = Int32(try names.index(of: column, in: result))
    return UnsafeRawBufferPointer(
      start: PQgetvalue(result, Int32(row), column),
      count: Int(PQgetlength(result, Int32(row), column)))
  }

  /// A value by the position of its column.
  static func read<Value: SQLDecodable>(
    _ result: OpaquePointer, _ row: Int, _ column: Int
  ) throws(PostgresError) -> Value {
    let value = value(result, row, column)
    guard let read = Value(value) else {
      let name = PQfname(result, Int32(column)).map { String(cString: $0) } ?? ""
      throw PostgresError(
        kind: .unreadable,
        message: value.isNull
          ? "column \"\(name)\" is null" : "column \"\(name)\" has a value of another type",
        detail: "The program expects a value of the type \(Value.self).")
    }
    return read
  }

  private static func value(_ result: OpaquePointer, _ row: Int, _ column: Int) -> SQLValue {
    let (row, column) = (Int32(row), Int32(column))
    guard PQgetisnull(result, row, column) == 0 else { return .null }
    let bytes = UnsafeRawBufferPointer(
      start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    return PQfformat(result, column) == 0 ? .text(bytes) : .binary(BinaryValue(bytes))
  }
}

/// The columns whose names were used, so that each is looked up once a result, and not once a row.
final class ColumnNames {
  /// The addresses of the names, which are literals.
  private var known: [(name: UnsafePointer<UInt8>, index: Int)] = []

  func index(of name: StaticString, in result: OpaquePointer) throws(PostgresError) -> Int {
    for column in known where column.name == name.utf8Start { return column.index }
    let index = name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount) {
      Int(PQfnumber(result, $0))
    }
    guard index >= 0 else {
      throw PostgresError(kind: .unreadable, message: "the statement returns no column \"\(name)\"")
    }
    known.append((name.utf8Start, index))
    return index
  }
}

extension QueryResult {
  /// The rows, each made by `make`.
  borrowing func rows<Row>(
    _ make: (borrowing SQLRow) throws(PostgresError) -> Row
  ) throws(PostgresError) -> [Row] {
    var rows: [Row] = []
    rows.reserveCapacity(rowCount)
    let names = ColumnNames()
    for row in 0..<rowCount { rows.append(try make(SQLRow(pointer, row, names))) }
    return rows
  }

  /// The rows of a single column.
  borrowing func rows<Value: SQLDecodable>(
    as type: Value.Type
  ) throws(PostgresError) -> [Value] {
    try checkColumns(1)
    var rows: [Value] = []
    rows.reserveCapacity(rowCount)
    for row in 0..<rowCount { rows.append(try SQLRow.read(pointer, row, 0)) }
    return rows
  }

  private borrowing func checkColumns(_ count: Int) throws(PostgresError) {
    guard count == columnCount else {
      throw PostgresError(
        kind: .unreadable, message: "the statement returns \(columnCount) columns, not \(count)")
    }
  }

  borrowing func rows<each Value: SQLDecodable>(
    as types: (repeat each Value).Type
  ) throws(PostgresError) -> [(repeat each Value)] {
    var count = 0
    for _ in repeat (each Value).self { count += 1 }
    try checkColumns(count)
    var rows: [(repeat each Value)] = []
    rows.reserveCapacity(rowCount)
    for row in 0..<rowCount {
      var column = -1
      func next<Next: SQLDecodable>(_ type: Next.Type) throws(PostgresError) -> Next {
        column += 1
        return try SQLRow.read(pointer, row, column)
      }
      rows.append((repeat try next((each Value).self)))
    }
    return rows
  }
}

extension Connection {
  /// Runs a statement and returns its rows, each with its values in the order of the columns:
  /// `try connection.rows("select code, magnitude from quake.quake", as: (String, Double?).self)`.
  ///
  /// - Parameters:
  ///   - isPrepared: Whether the statement is prepared and kept, as by `executePrepared`.
  ///   - format: The form in which the values are sent. In the binary form a value of a text type is a
  ///     `String`, a value of another type is not.
  ///   - types: The types of the columns.
  /// - Throws: `PostgresError` of kind `unreadable` if the result has another number of columns, or a value
  ///   of another type; null is of no type but an optional one.
  public func rows<each Value: SQLDecodable>(
    _ statement: SQL, prepared isPrepared: Bool = false, format: Format = .text,
    as types: (repeat each Value).Type
  ) throws(PostgresError) -> [(repeat each Value)] {
    try read(statement, isPrepared, format) { result throws(PostgresError) in
      try result.rows(as: types)
    }
  }

  /// Runs a statement of one column and returns its values.
  public func rows<Value: SQLDecodable>(
    _ statement: SQL, prepared isPrepared: Bool = false, format: Format = .text,
    as type: Value.Type
  ) throws(PostgresError) -> [Value] {
    try read(statement, isPrepared, format) { result throws(PostgresError) in
      try result.rows(as: type)
    }
  }

  /// Runs a statement and returns its rows, each made by `make`, which reads values by the names of their
  /// columns: `try connection.rows("select code …") { row throws(PostgresError) in Event(try row["code"]) }`.
  public func rows<Row>(
    _ statement: SQL, prepared isPrepared: Bool = false, format: Format = .text,
    _ make: (borrowing SQLRow) throws(PostgresError) -> Row
  ) throws(PostgresError) -> [Row] {
    try read(statement, isPrepared, format) { result throws(PostgresError) in
      try result.rows(make)
    }
  }

  /// Runs a statement and returns its first row; nil if there is none.
  public func firstRow<each Value: SQLDecodable>(
    _ statement: SQL, prepared isPrepared: Bool = false, format: Format = .text,
    as types: (repeat each Value).Type
  ) throws(PostgresError) -> (repeat each Value)? {
    try rows(statement, prepared: isPrepared, format: format, as: types).first
  }

  /// Runs a statement of one column and returns its first value; nil if there is no row.
  public func firstRow<Value: SQLDecodable>(
    _ statement: SQL, prepared isPrepared: Bool = false, format: Format = .text,
    as type: Value.Type
  ) throws(PostgresError) -> Value? {
    try rows(statement, prepared: isPrepared, format: format, as: type).first
  }

  /// Runs a statement and returns its first row, made by `make`; nil if there is none.
  public func firstRow<Row>(
    _ statement: SQL, prepared isPrepared: Bool = false, format: Format = .text,
    _ make: (borrowing SQLRow) throws(PostgresError) -> Row
  ) throws(PostgresError) -> Row? {
    try rows(statement, prepared: isPrepared, format: format, make).first
  }

  /// Runs a statement that returns a row, and returns it.
  ///
  /// - Throws: `PostgresError` of kind `unreadable` also if there is no row.
  public func row<each Value: SQLDecodable>(
    _ statement: SQL, prepared isPrepared: Bool = false, format: Format = .text,
    as types: (repeat each Value).Type
  ) throws(PostgresError) -> (repeat each Value) {
    try Self.required(
      rows(statement, prepared: isPrepared, format: format, as: types).first, statement)
  }

  /// Runs a statement that returns a value, and returns it.
  public func row<Value: SQLDecodable>(
    _ statement: SQL, prepared isPrepared: Bool = false, format: Format = .text,
    as type: Value.Type
  ) throws(PostgresError) -> Value {
    try Self.required(
      rows(statement, prepared: isPrepared, format: format, as: type).first, statement)
  }

  /// Runs a statement that returns a row, and returns it, made by `make`.
  public func row<Row>(
    _ statement: SQL, prepared isPrepared: Bool = false, format: Format = .text,
    _ make: (borrowing SQLRow) throws(PostgresError) -> Row
  ) throws(PostgresError) -> Row {
    try Self.required(rows(statement, prepared: isPrepared, format: format, make).first, statement)
  }

  private static func required<Row>(_ row: Row?, _ statement: SQL) throws(PostgresError) -> Row {
    guard let row else {
      throw PostgresError(kind: .unreadable, message: "the statement returns no row")
        .caused(by: statement.text)
    }
    return row
  }

  /// Runs a query and passes each row to `body` as it arrives, so that memory does not depend on the number of
  /// rows. The connection cannot be used for anything else meanwhile.
  ///
  /// When `body` throws, the query is cancelled and the connection stays usable.
  public func forEachRow(
    _ statement: SQL, format: Format = .text, _ body: (borrowing SQLRow) throws -> Void
  ) throws {
    let names = ColumnNames()
    try stream(statement, format: format) { part in
      for row in 0..<part.rowCount {
        do {
          try body(SQLRow(part.pointer, row, names))
        } catch let error as PostgresError where error.kind == .unreadable {
          throw error.caused(by: statement.text)
        }
      }
    }
  }

  private func read<Rows>(
    _ statement: SQL, _ isPrepared: Bool, _ format: Format,
    _ read: (borrowing QueryResult) throws(PostgresError) -> Rows
  ) throws(PostgresError) -> Rows {
    let result =
      isPrepared
      ? try executePrepared(statement, format: format) : try execute(statement, format: format)
    do throws(PostgresError) {
      return try read(result)
    } catch {
      throw error.caused(by: statement.text)
    }
  }
}

/// The rows that a statement returned, or the number of rows that it changed. Frees itself.
///
/// `Connection.rows(_:as:)` and its like read the values. Code that handles hundreds of thousands of rows reads a
/// value by its row and its column, both from 0; the positions of the columns are then beside the list of columns
/// that they count.
public struct QueryResult: ~Copyable {
  private let result: OpaquePointer
  /// libpq's result, valid as long as this one.
  var pointer: OpaquePointer { result }

  init(owning result: OpaquePointer) {
    self.result = result
  }

  deinit {
    PQclear(result)
  }

  /// Passes libpq's result to the caller, which must free it.
  consuming func release() -> OpaquePointer {
    let result = result
    discard self
    return result
  }

  /// The command tag, such as `INSERT 0 7`.
  var commandTag: String {
    PQcmdStatus(result).map { String(cString: $0) } ?? ""
  }

  /// The number of rows.
  public var rowCount: Int { Int(PQntuples(result)) }

  /// The memory that it takes, in bytes.
  package var memorySize: Int { Int(PQresultMemorySize(result)) }

  package var columnCount: Int { Int(PQnfields(result)) }

  /// The number of rows that the statement inserted, updated, deleted or copied; 0 for other statements.
  public var affectedRows: Int {
    PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
  }

  package func isNull(_ row: Int, _ column: Int) -> Bool {
    PQgetisnull(result, Int32(row), Int32(column)) != 0
  }

  /// A value's bytes, valid as long as the result exists; empty for null.
  package func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(result, Int32(row), Int32(column)),
      count: Int(PQgetlength(result, Int32(row), Int32(column))))
  }

  /// A value in the binary format, valid as long as the result exists.
  package func binary(_ row: Int, _ column: Int) -> BinaryValue {
    BinaryValue(isNull(row, column) ? nil : bytes(row, column))
  }
}
