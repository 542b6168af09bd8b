internal import CLibpq

/// The rows that a statement returned, or the number of rows that it changed. Frees itself.
///
/// A value is read by row and column, both from 0, with the accessor of its type. The caller of the statement
/// chose the format of the columns: `text` reads both formats, the other accessors the one in their name.
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
  public var memorySize: Int { Int(PQresultMemorySize(result)) }

  /// The number of columns.
  public var columnCount: Int { Int(PQnfields(result)) }

  /// The name of a column.
  public func columnName(_ column: Int) -> String {
    PQfname(result, Int32(column)).map { String(cString: $0) } ?? ""
  }

  /// The number of rows that the statement inserted, updated, deleted or copied; 0 for other statements.
  public var affectedRows: Int {
    PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
  }

  /// Whether a value is null.
  public func isNull(_ row: Int, _ column: Int) -> Bool {
    PQgetisnull(result, Int32(row), Int32(column)) != 0
  }

  /// A value's bytes, valid as long as the result exists; empty for null.
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

  /// A value in the binary format, valid as long as the result exists.
  public func binary(_ row: Int, _ column: Int) -> BinaryValue {
    BinaryValue(isNull(row, column) ? nil : bytes(row, column))
  }

  /// An integer of 2, 4 or 8 bytes in the binary format; nil for null.
  public func binaryInteger(_ row: Int, _ column: Int) -> Int64? { binary(row, column).integer }

  /// A `double precision` in the binary format; nil for null.
  public func binaryDouble(_ row: Int, _ column: Int) -> Double? { binary(row, column).double }

  /// A `boolean` in the binary format; nil for null.
  public func binaryBool(_ row: Int, _ column: Int) -> Bool? { binary(row, column).bool }

  /// A `timestamptz` in the binary format, as microseconds since 1970-01-01T00:00:00Z; the first and
  /// the last `Int64` for the infinite ones; nil for null.
  public func binaryTimestamp(_ row: Int, _ column: Int) -> Int64? {
    binary(row, column).timestamp
  }

  /// The elements of a `text[]` without nulls in the binary format; nil for null.
  public func binaryTextArray(_ row: Int, _ column: Int) -> [String]? {
    binary(row, column).textArray
  }
}
