public import Postgres
public import QuakeModel

extension EventColumn {
  /// The event's columns of a table, an alias or a composite value, in their order.
  package static func list(of table: SQL) -> SQL { allCases.list(of: table) }
}

extension Sequence<EventColumn> {
  /// These columns of a table, an alias or a composite value, in their order.
  package func list(of table: SQL) -> SQL {
    map { "\(sql: table).\(identifier: $0.name)" }.joined(separator: ", ")
  }
}

extension CopyReader {
  /// Sets a record to an event from the columns of `quake.quake`, all of them and in their order. It is set
  /// in place, because a record for each of a million rows would be allocated.
  ///
  /// - Parameter firstColumn: The column with the code, within the columns of the statement.
  func read(_ record: inout EventRecord, firstColumn: Int = 0) throws(StoreError) {
    record.removeAll()
    for column in EventColumn.allCases {
      try record.set(column, value(firstColumn + column.rawValue))
    }
  }

  /// Sets a record to an event from the first columns, which are these.
  fileprivate func read(
    _ record: inout EventRecord, columns: [EventColumn]
  ) throws(StoreError) {
    record.removeAll()
    for (index, column) in columns.enumerated() { try record.set(column, value(index)) }
  }
}

extension Connection {
  /// Runs a query that returns events and passes each to `body` as it arrives. It is read with COPY, which
  /// costs less than rows do.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - columns: The columns that the query returns, in its order. If there are none, it returns one column,
  ///     which is not read.
  package func copyEvents(
    _ query: SQL, columns: [EventColumn] = EventColumn.allCases,
    _ body: (EventRecord) throws -> Void
  ) throws {
    try copyOut(query, columns: max(columns.count, 1), rowLimit: Self.longestRow) { rows in
      var record = EventRecord()
      while try rows.nextRow() {
        try rows.read(&record, columns: columns)
        try body(record)
      }
    }
  }

  /// Runs `body` in a transaction in which all statements see the events and the history of one moment. If a
  /// transaction is open, it runs in that one.
  package func atOneMoment<Value>(_ body: () throws -> Value) throws -> Value {
    guard isIdle else { return try body() }
    return try transaction(.repeatableRead, readOnly: true) {
      // Before the transaction takes its snapshot: with one older than the commit of a truncate, it would
      // find the table empty at a moment at which it was not.
      try execute("lock table quake.quake in access share mode")
      return try body()
    }
  }

  /// No row of the store has more bytes: the longest texts of an event take half a megabyte, and a change has
  /// two.
  static var longestRow: Int { 4 << 20 }
}

extension QueryResult {
  /// An event from some columns of `quake.quake`, in this order, in the binary format.
  package func record(
    _ row: Int, firstColumn: Int, columns: [EventColumn] = EventColumn.allCases
  ) throws(StoreError) -> EventRecord {
    guard firstColumn + columns.count <= columnCount else {
      throw EventRecord.malformed("an event with too few columns")
    }
    var record = EventRecord()
    for (index, column) in columns.enumerated() {
      try record.set(column, binary(row, firstColumn + index))
    }
    return record
  }
}

extension CompositeFields {
  /// An event from the next fields: the columns of `quake.quake`, all of them and in their order.
  mutating func nextRecord() throws(StoreError) -> EventRecord {
    var record = EventRecord()
    try read(&record)
    return record
  }

  /// Sets a record to the event of a whole row of `quake.quake_version`.
  mutating func readVersion(_ record: inout EventRecord) throws(StoreError) {
    skip(4)  // id, transaction_id, op, changed
    record.removeAll()
    try read(&record)
  }

  private mutating func read(_ record: inout EventRecord) throws(StoreError) {
    for column in EventColumn.allCases { try record.set(column, next()) }
    guard !isCutShort else { throw EventRecord.malformed("an event that is cut short") }
  }
}

extension EventRecord {
  /// Sets a column that has no value yet.
  fileprivate mutating func set(
    _ column: EventColumn, _ value: BinaryValue
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
        "Its tables are not those of this program, or the program that answers there is not PostgreSQL."
    )
  }
}

extension Timestamp: SQLEncodable, SQLDecodable {
  /// A `timestamptz`. PostgreSQL reads only the years 1 to 9999 in this form; an instant before or after them is one of
  /// the infinite ones.
  public var sqlParameter: Parameter {
    .text(self < .earliest ? "-infinity" : self > .latest ? "infinity" : description)
  }

  /// A `timestamptz`; the first and the last instant for the infinite ones. In the text form, one of the years
  /// 1 to 9999.
  public init?(_ value: SQLValue) {
    switch value {
    case .null: return nil
    case .binary(let value):
      guard let microseconds = value.timestamp else { return nil }
      self.init(microseconds: microseconds)
    case .text(let bytes):
      switch value.string {
      case "-infinity": self.init(microseconds: .min)
      case "infinity": self.init(microseconds: .max)
      default: self.init(iso8601: bytes)
      }
    }
  }
}

extension ChangeToken: SQLEncodable, SQLDecodable {
  /// The text of a token.
  public var sqlParameter: Parameter { .text(description) }

  /// The text of a token.
  public init?(_ value: SQLValue) {
    guard let text = value.string else { return nil }
    self.init(text)
  }
}
