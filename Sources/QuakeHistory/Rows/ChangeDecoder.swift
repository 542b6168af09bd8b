internal import Postgres
internal import QuakeModel

/// Makes transactions and changes of the rows that a statement about the history returns, in one of two
/// layouts. In both the fields come in the order of the tables' columns.
///
/// Values are read by position, because a page has hundreds of changes of ninety fields. The positions are here
/// alone, beside the lists of columns that they count.
enum ChangeDecoder {
  /// Transaction, version and previous version are whole rows of their tables. The statement has a few
  /// columns instead of almost ninety, which more than halves its cost where it returns one change.
  case composites
  /// Each field is a column. The statement may look at many versions to find one that passes a filter, and
  /// would make a composite value of each.
  case columns

  /// The column with the number of the transaction.
  static let token = 0
  /// The column with the number of the version.
  static let version = 1
  private static let client = 2
  private static let transaction = 3
  private static let transactionFields = [
    "token", "nonce", "transaction_id", "author", "context", "application_name", "database_user",
    "process_id", "client_address", "at", "inserted", "updated", "deleted", "truncated",
    "import_id",
  ]
  private static let insertedField = 10

  // MARK: - Columns of statements

  /// The columns of a statement whose transaction, alias `t`, and version, alias `v`, each have their whole
  /// row as `row`.
  ///
  /// - Parameter previous: The whole row of the event's version before, or null.
  static func compositeList(previous: SQL) -> SQL {
    "t.token, v.id, host(t.client_address), t.row, v.row, \(sql: previous)"
  }

  /// The columns of a statement whose transaction and version have their columns under an alias; those of
  /// the previous version come after them.
  ///
  /// - Parameters:
  ///   - transaction: The alias of the transaction.
  ///   - updated: The name of its number of updates there: events have a column of that name, too.
  ///   - version: What is returned as the number of the version, alias `v`.
  ///   - event: The alias or the composite value with the event's columns.
  static func columnList(
    transaction t: SQL, updated: SQL = "updated", version: SQL = "v.id", event: SQL = "v"
  ) -> SQL {
    let fields = transactionFields.map { field -> SQL in
      field == "updated" ? "\(sql: t).\(sql: updated)" : "\(sql: t).\(identifier: field)"
    }
    return """
      \(sql: t).token, \(sql: version), host(\(sql: t).client_address), \
      \(sql: fields.joined(separator: ", ")), v.op, v.changed, \(sql: EventColumn.list(of: event))
      """
  }

  private var versionColumn: Int {
    Self.transaction + (self == .composites ? 1 : Self.transactionFields.count)
  }

  private var previousColumn: Int {
    versionColumn + (self == .composites ? 1 : 2 + EventColumn.allCases.count)
  }

  /// The first column after those of the change.
  var end: Int { previousColumn + (self == .composites ? 1 : EventColumn.allCases.count) }

  // MARK: - Decoding

  func transaction(_ page: borrowing QueryResult, _ row: Int) throws -> ChangeTransaction {
    switch self {
    case .composites: return try Self.link(page, row).transaction
    case .columns:
      var column = Self.transaction
      return try Self.transaction(page.binary(row, Self.client).text) {
        defer { column += 1 }
        return page.binary(row, column)
      }
    }
  }

  /// The transaction in a row of `composites`, with the one before it.
  static func link(_ page: borrowing QueryResult, _ row: Int) throws -> HistoryLink {
    try link(client: page.binary(row, client), row: page.binary(row, transaction))
  }

  /// A transaction from its address and its whole row, with the one before it.
  static func link(client: BinaryValue, row: BinaryValue) throws -> HistoryLink {
    guard var fields = CompositeFields(row) else { throw incomplete }
    let transaction = try transaction(client.text, hasPredecessor: true) { fields.next() }
    guard !fields.isCutShort else { throw incomplete }
    return HistoryLink(transaction: transaction)
  }

  private static func transaction(
    _ client: String?, hasPredecessor: Bool = false, next: () -> BinaryValue
  ) throws -> ChangeTransaction {
    guard let number = next().integer, let nonce = next().text,
      let token = ChangeToken(number: number, nonce: nonce)
    else { throw incomplete }
    _ = next()  // transaction_id
    let author = next().text
    let context = next().text
    let application = next().text
    let user = next().text
    let process = next().integer
    _ = next()  // client_address, which is also returned as text
    guard let at = next().timestamp else { throw incomplete }
    let counts = ChangeCounts(
      inserted: next().integer ?? 0, updated: next().integer ?? 0, deleted: next().integer ?? 0,
      truncated: next().integer ?? 0)
    return ChangeTransaction(
      token: token, author: author, context: context, application: application, user: user ?? "",
      processID: Int(process ?? 0), client: client, at: Timestamp(microseconds: at),
      importID: next().integer, counts: counts,
      predecessor: hasPredecessor ? next().text : nil)
  }

  private static let incomplete = StoreError(
    .inconsistent, "the history holds an incomplete transaction")

  struct Version {
    var op: ChangeOperation
    var changed: [String]
    /// The event after the change; before a delete.
    var event: EventRecord
  }

  func version(_ page: borrowing QueryResult, _ row: Int) throws -> Version {
    switch self {
    case .composites:
      guard var fields = CompositeFields(page.binary(row, versionColumn)) else {
        throw Self.unknownOperation
      }
      fields.skip(2)  // id, transaction_id
      return Version(
        op: try Self.operation(fields.next()), changed: fields.next().textArray ?? [],
        event: try fields.nextRecord())
    case .columns:
      let column = versionColumn
      return Version(
        op: try Self.operation(page.binary(row, column)),
        changed: page.binary(row, column + 1).textArray ?? [],
        event: try page.record(row, firstColumn: column + 2))
    }
  }

  static func operation(_ value: BinaryValue) throws -> ChangeOperation {
    // No text is made of it for each of a million changes.
    for op in [ChangeOperation.insert, .update, .delete, .truncate] {
      if let bytes = value.bytes, bytes.elementsEqual(op.rawValue.utf8) { return op }
    }
    throw unknownOperation
  }

  private static let unknownOperation = StoreError(
    .inconsistent, "the history holds an operation that is not known")

  /// The event before an update.
  private func previous(_ page: borrowing QueryResult, _ row: Int) throws -> EventRecord? {
    switch self {
    case .composites:
      var fields = CompositeFields(page.binary(row, previousColumn))
      fields?.skip(4)  // id, transaction_id, op, changed
      return try fields?.nextRecord()
    case .columns:
      return try page.record(row, firstColumn: previousColumn)
    }
  }

  func change(
    _ page: borrowing QueryResult, _ row: Int, of transaction: ChangeTransaction, at position: Int64
  ) throws -> Change {
    let version = try version(page, row)
    let old: EventRecord? =
      switch version.op {
      case .update: try previous(page, row)
      case .delete: version.event
      case .insert, .truncate: nil
      }
    return Change(
      transaction: transaction, position: position, op: version.op,
      code: version.event.code, changed: version.changed, old: old,
      new: version.op == .insert || version.op == .update ? version.event : nil)
  }

  /// The code of the event in a row of `columns`; nil for a truncate.
  static func code(_ page: borrowing QueryResult, _ row: Int) -> String? {
    page.binary(row, columns.versionColumn + 2 + EventColumn.code.rawValue).text
  }

  /// How many changes the transaction in a row of `columns` has.
  static func changeCount(_ page: borrowing QueryResult, _ row: Int) -> Int64 {
    let first = transaction + insertedField
    return (first..<first + 4).reduce(0) { $0 + (page.binary(row, $1).integer ?? 0) }
  }
}

/// Makes changes of the rows of a bulk page (`BulkPageSQL`), and keeps the memory of the events in them.
///
/// Each field of an event is a column, because composite values are what costs the server most in bulk. The
/// transaction is a composite value, but comes only with its first change in the page; so is the version
/// before, which comes only with an update. For inserts alone that is a fifth less than columns would be.
struct BulkChangeDecoder {
  private var event = EventRecord()
  private var previous = EventRecord()

  private enum Column {
    static let token = 0
    static let version = 1
    static let transaction = 2
    static let client = 3
    static let operation = 4
    static let changed = 5
    static let event = 6
    static let previous = event + EventColumn.allCases.count
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
    transaction t: SQL, isFirst: SQL, version v: SQL, previous: SQL
  ) -> SQL {
    """
    \(sql: t).token, \(sql: v).id, case when \(sql: isFirst) then \(sql: t).row end, \
    case when \(sql: isFirst) then host(\(sql: t).client_address) end, \
    \(sql: v).op, \(sql: v).changed, \(sql: EventColumn.list(of: v)), \(sql: previous)
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

  /// The transaction in a row that is the first of its transaction, with the one before it.
  static func link(_ rows: borrowing CopyReader) throws -> HistoryLink {
    try ChangeDecoder.link(
      client: rows.value(Column.client), row: rows.value(Column.transaction))
  }

  mutating func change(
    _ rows: borrowing CopyReader, of transaction: ChangeTransaction, at position: Int64
  ) throws -> Change {
    let op = try ChangeDecoder.operation(rows.value(Column.operation))
    try rows.read(&event, firstColumn: Column.event)
    var old: EventRecord?
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
      transaction: transaction, position: position, op: op, code: event.code,
      changed: rows.value(Column.changed).textArray ?? [], old: old,
      new: op == .insert || op == .update ? event : nil)
  }
}

/// A transaction, and the one before it in commit order, as the database recorded it at commit
/// (`change_transaction.predecessor`).
struct HistoryLink {
  let transaction: ChangeTransaction

  /// The error of kind `token` if a transaction is missing between `token` and this one; nil if none is.
  func gap(after token: ChangeToken) -> StoreError? {
    let gap = HistoryGap(
      after: token, next: transaction.token, predecessor: transaction.predecessor)
    return gap?.error(
      because: """
        Transactions in between are missing, because rows of the history were removed or not copied, or another \
        history has taken its place; "quake-query verify" shows all such places.
        """)
  }

  /// The error for a transaction of which the history holds fewer changes than it had.
  static func incomplete(_ token: ChangeToken, changes: Int64) -> StoreError {
    HistoryGap(in: token, changes: changes).error(
      because: """
        Rows of the history were removed or not copied; "quake-query verify" shows all such places.
        """)
  }
}
