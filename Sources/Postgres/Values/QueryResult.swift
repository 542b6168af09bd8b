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

  /// How many bytes of memory it takes.
  public var memorySize: Int { Int(PQresultMemorySize(result)) }

  /// How many columns each row has.
  public var columnCount: Int { Int(PQnfields(result)) }

  /// The name of a column.
  public func columnName(_ column: Int) -> String {
    PQfname(result, Int32(column)).map { String(cString: $0) } ?? ""
  }

  /// How many rows the statement inserted, updated, deleted or copied; 0 for any other.
  public var affectedRows: Int {
    let count = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    // So that whoever adds up what a server says comes to an end of neither the digits nor the rows.
    return min(max(0, count), 1 << 48)
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

  /// A value in the binary format, valid while the result lives.
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
