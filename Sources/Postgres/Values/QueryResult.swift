internal import CLibpq

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
