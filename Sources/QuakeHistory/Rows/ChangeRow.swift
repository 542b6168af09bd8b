internal import Postgres
internal import QuakeModel

/// The columns in which a statement returns changes, and what is made of them. In the statement `v` is
/// the version and `p` the event's version before it.
enum ChangeRow {
  /// The columns of `change_transaction` from an alias.
  ///
  /// - Parameter updated: What the number of updates is called there: the events have a column of that
  ///   name, too.
  static func transactionColumns(of table: String, updated: String) -> String {
    let names = [
      "token", "nonce", "author", "context", "application_name", "database_user", "process_id",
      "client_address", "at", "import_id", "inserted", updated, "deleted", "truncated",
    ]
    return names.map { $0 == "client_address" ? "host(\(table).\($0))" : "\(table).\($0)" }
      .joined(separator: ", ")
  }

  /// Where the number of a version is.
  static let version = 14

  /// The first column after those of the list.
  static let end = 17 + 2 * QuakeColumn.allCases.count

  /// The event's columns of a table or an alias, in their order.
  static func eventColumns(of table: String) -> String {
    QuakeColumn.allCases.map { "\(table).\($0.name)" }.joined(separator: ", ")
  }

  /// All of them.
  ///
  /// - Parameters:
  ///   - transaction: The alias that has the transaction's.
  ///   - updated: What the number of updates is called there.
  static func columns(transaction: String = "t", updated: String = "updated") -> String {
    """
    \(transactionColumns(of: transaction, updated: updated)), v.id, v.op, v.changed, \
    \(eventColumns(of: "v")), \(eventColumns(of: "p"))
    """
  }

  /// The transaction in a row.
  static func transaction(_ page: borrowing QueryResult, _ row: Int) throws -> ChangeTransaction {
    guard let number = page.binaryInteger(row, 0), let nonce = page.text(row, 1),
      let token = ChangeToken(number: number, nonce: nonce), let at = page.binaryTimestamp(row, 8)
    else {
      throw StoreError(.inconsistent, "the history holds an incomplete transaction")
    }
    return ChangeTransaction(
      token: token, author: page.text(row, 2), context: page.text(row, 3),
      application: page.text(row, 4), user: page.text(row, 5) ?? "",
      processID: Int(page.binaryInteger(row, 6) ?? 0), client: page.text(row, 7),
      at: Timestamp(microseconds: at), importID: page.binaryInteger(row, 9),
      counts: counts(page, row))
  }

  /// How many changes the transaction in a row has.
  static func counts(_ page: borrowing QueryResult, _ row: Int) -> ChangeCounts {
    ChangeCounts(
      inserted: page.binaryInteger(row, 10) ?? 0, updated: page.binaryInteger(row, 11) ?? 0,
      deleted: page.binaryInteger(row, 12) ?? 0, truncated: page.binaryInteger(row, 13) ?? 0)
  }

  /// The code of the event in a row; nil for a truncate.
  static func code(_ page: borrowing QueryResult, _ row: Int) -> String? {
    page.text(row, 17 + QuakeColumn.code.rawValue)
  }

  /// The change in a row.
  static func change(
    _ page: borrowing QueryResult, _ row: Int, of transaction: ChangeTransaction, at position: Int64
  ) throws -> Change {
    guard let op = page.text(row, 15).flatMap({ ChangeOperation(rawValue: $0) }) else {
      throw StoreError(.inconsistent, "the history holds an operation that is not known")
    }
    let values = try page.record(row, firstColumn: 17)
    let previous =
      op == .update ? try page.record(row, firstColumn: 17 + QuakeColumn.allCases.count) : nil
    return Change(
      transaction: transaction, position: position, op: op, code: values.text(.code),
      changed: page.binaryTextArray(row, 16) ?? [], old: op == .delete ? values : previous,
      new: op == .insert || op == .update ? values : nil)
  }
}
