internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// Reads the rows of a statement that returns events. All statements of this module that do are read here.
struct EventRows {
  /// The columns that the statement returns first, in the order of the table.
  let columns: [QuakeColumn]

  init(columns: some Sequence<QuakeColumn>) {
    let wanted = Set(columns)
    self.columns = QuakeColumn.allCases.filter(wanted.contains)
  }

  /// The columns for the statement's select list; the event's code if there are none, since a row needs one.
  func list(of alias: String) -> String {
    columns.isEmpty
      ? "\(alias).code" : columns.map { "\(alias).\($0.name)" }.joined(separator: ", ")
  }

  /// Runs a statement and passes each event to `body`.
  func read(
    _ statement: SQL, _ parameters: [Parameter], over connection: Connection,
    _ body: (QuakeRecord) throws -> Void
  ) throws {
    try connection.copyEvents(statement, parameters, columns: columns, body)
  }

  /// Runs a statement that returns another column after those of the event.
  func read(
    _ statement: SQL, _ parameters: [Parameter], over connection: Connection,
    _ body: (QuakeRecord, BinaryValue) throws -> Void
  ) throws {
    try connection.stream(statement, parameters) { rows in
      for row in 0..<rows.rowCount {
        try body(
          try rows.record(row, firstColumn: 0, columns: columns),
          rows.binary(row, max(columns.count, 1)))
      }
    }
  }
}
