internal import Postgres
internal import QuakeModel

extension QueryResult {
  /// An event from the columns of `quake.quake`, all of them and in their order, in the binary format.
  func record(_ row: Int, firstColumn: Int) -> QuakeRecord {
    var record = QuakeRecord()
    for column in QuakeColumn.allCases {
      let index = firstColumn + column.rawValue
      let bytes = bytes(row, index)
      // Only a text can be empty and not null.
      if bytes.isEmpty, column.kind != .text || isNull(row, index) { continue }
      switch column.kind {
      case .text: record.set(column, utf8: bytes)
      case .float8: if let value = binaryDouble(row, index) { record.set(column, value) }
      case .int4, .int2:
        if let value = binaryInteger(row, index) { record.set(column, integer: Int(value)) }
      case .timestamp:
        if let value = binaryTimestamp(row, index) {
          record.set(column, Timestamp(microseconds: value))
        }
      case .bool: if let value = binaryBool(row, index) { record.set(column, value) }
      }
    }
    return record
  }
}
