internal import Postgres
internal import QuakeModel

extension CopyValues {
  /// Appends the values of a record in these columns, null where it has none.
  mutating func append(_ record: QuakeRecord, _ columns: [QuakeColumn]) {
    for column in columns { append(record, column) }
  }

  private mutating func append(_ record: QuakeRecord, _ column: QuakeColumn) {
    switch column.kind {
    case .text:
      record.withUTF8(column) { utf8 in
        if let utf8 { text(utf8) } else { null() }
      }
    case .float8: if let value = record.double(column) { float8(value) } else { null() }
    case .int4: if let value = record.integer(column) { int4(Int32(value)) } else { null() }
    case .int2: if let value = record.integer(column) { int2(Int16(value)) } else { null() }
    case .timestamp:
      if let value = record.timestamp(column) {
        timestamp(microseconds: value.microseconds)
      } else {
        null()
      }
    case .bool: if let value = record.bool(column) { bool(value) } else { null() }
    }
  }
}
