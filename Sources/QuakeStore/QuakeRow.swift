internal import Postgres
internal import QuakeModel

extension QueryResult {
  /// An event from the columns of `quake.quake`, all of them and in their order, in the binary format.
  func record(_ row: Int, firstColumn: Int) -> QuakeRecord {
    var record = QuakeRecord()
    for column in QuakeColumn.allCases {
      record.set(column, binary(row, firstColumn + column.rawValue))
    }
    return record
  }
}

extension CompositeFields {
  /// An event from the fields that come next: the columns of `quake.quake`, all of them and in their
  /// order.
  mutating func nextRecord() -> QuakeRecord {
    var record = QuakeRecord()
    for column in QuakeColumn.allCases { record.set(column, next()) }
    return record
  }
}

extension QuakeRecord {
  /// Sets a column that has no value yet.
  fileprivate mutating func set(_ column: QuakeColumn, _ value: BinaryValue) {
    guard let bytes = value.bytes else { return }
    switch column.kind {
    case .text: set(column, utf8: bytes)
    case .float8: if let value = value.double { set(column, value) }
    case .int4, .int2: if let value = value.integer { set(column, integer: Int(value)) }
    case .timestamp:
      if let value = value.timestamp { set(column, Timestamp(microseconds: value)) }
    case .bool: if let value = value.bool { set(column, value) }
    }
  }
}
