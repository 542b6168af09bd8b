internal import Postgres
internal import QuakeModel

/// Makes changes of the rows of a bulk page (`BulkPageSQL`), and keeps the memory of the events in them.
///
/// Each field of an event is a column, because composite values are what costs the server most in bulk. The
/// transaction is a composite value, but comes only with its first change in the page; so is the version
/// before, which comes only with an update. For inserts alone that is a fifth less than columns would be.
struct BulkChangeDecoder {
  private var event = QuakeRecord()
  private var previous = QuakeRecord()

  private enum Column {
    static let token = 0
    static let version = 1
    static let transaction = 2
    static let client = 3
    static let operation = 4
    static let changed = 5
    static let event = 6
    static let previous = event + QuakeColumn.allCases.count
  }

  /// How many columns a row has.
  static let columnCount = Column.previous + 1

  /// The columns of the statement.
  ///
  /// - Parameters:
  ///   - transaction: The alias of the transaction, with its whole row as `row`.
  ///   - isFirst: Whether the change is the first of its transaction in the page.
  ///   - version: The alias of the version.
  ///   - previous: The whole row of the event's version before, or null.
  static func columnList(
    transaction t: String, isFirst: String, version v: String, previous: String
  ) -> String {
    """
    \(t).token, \(v).id, case when \(isFirst) then \(t).row end, \
    case when \(isFirst) then host(\(t).client_address) end, \
    \(v).op, \(v).changed, \(QuakeColumn.list(of: v)), \(previous)
    """
  }

  /// The numbers of the transaction and of the version in a row; nil if one is missing.
  static func place(
    _ rows: borrowing CopyReader
  ) -> (transaction: Int64, version: Int64)? {
    guard let transaction = rows.value(Column.token).integer,
      let version = rows.value(Column.version).integer
    else { return nil }
    return (transaction, version)
  }

  /// The transaction in a row that is the first of its transaction.
  static func transaction(_ rows: borrowing CopyReader) throws -> ChangeTransaction {
    try ChangeDecoder.transaction(
      client: rows.value(Column.client), row: rows.value(Column.transaction))
  }

  /// The change in a row.
  mutating func change(
    _ rows: borrowing CopyReader, of transaction: ChangeTransaction, at position: Int64
  ) throws -> Change {
    let op = try ChangeDecoder.operation(rows.value(Column.operation))
    try rows.read(&event, firstColumn: Column.event)
    var old: QuakeRecord?
    switch op {
    case .update:
      // It has no version before if somebody has removed that.
      if var fields = CompositeFields(rows.value(Column.previous)) {
        try fields.readVersion(&previous)
        old = previous
      }
    case .delete: old = event
    case .insert, .truncate: break
    }
    return Change(
      transaction: transaction, position: position, op: op, code: event.text(.code),
      changed: rows.value(Column.changed).textArray ?? [], old: old,
      new: op == .insert || op == .update ? event : nil)
  }
}
