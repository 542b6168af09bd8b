internal import Postgres
internal import QuakeModel

extension QuakeColumn {
  /// The event's columns of a table, an alias or a composite value, in their order.
  static func list(of table: String) -> String {
    allCases.map { "\(table).\($0.name)" }.joined(separator: ", ")
  }
}

extension QueryResult {
  /// An event from the columns of `quake.quake`, all of them and in their order, in the binary format.
  func record(_ row: Int, firstColumn: Int) throws(StoreError) -> QuakeRecord {
    guard firstColumn + QuakeColumn.allCases.count <= columnCount else {
      throw QuakeRecord.malformed("an event with too few columns")
    }
    var record = QuakeRecord()
    for column in QuakeColumn.allCases {
      try record.set(column, binary(row, firstColumn + column.rawValue))
    }
    return record
  }
}

extension CompositeFields {
  /// An event from the next fields: the columns of `quake.quake`, all of them and in their order.
  mutating func nextRecord() throws(StoreError) -> QuakeRecord {
    var record = QuakeRecord()
    for column in QuakeColumn.allCases { try record.set(column, next()) }
    guard !isCutShort else { throw QuakeRecord.malformed("an event that is cut short") }
    return record
  }
}

extension QuakeRecord {
  /// Sets a column that has no value yet.
  fileprivate mutating func set(
    _ column: QuakeColumn, _ value: BinaryValue
  ) throws(StoreError) {
    guard let bytes = value.bytes else { return }
    switch column.kind {
    case .text: return set(column, utf8: bytes)
    case .float8: if let value = value.double { return set(column, value) }
    case .int4, .int2: if let value = value.integer { return set(column, integer: Int(value)) }
    case .timestamp:
      if let value = value.timestamp { return set(column, Timestamp(microseconds: value)) }
    case .bool: if let value = value.bool { return set(column, value) }
    }
    throw Self.malformed("a value of column \"\(column.name)\" that is not of its type")
  }

  /// The error for an answer that does not fit the statement.
  static func malformed(_ what: String) -> StoreError {
    StoreError(
      .inconsistent, "the database sent \(what)",
      hint:
        "Its tables are not those of this program, or what answers there is no PostgreSQL server.")
  }
}
