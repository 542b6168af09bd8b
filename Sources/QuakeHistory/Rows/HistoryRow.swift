internal import Postgres
internal import QuakeModel

/// A row of a reader's page, and what is made of it. Transaction and versions come as whole rows of
/// their tables: the statement then has seven columns, not eighty-six, which more than halves what it
/// costs where it returns one change.
enum HistoryRow {
  /// The number of the transaction.
  static let token = 0
  /// The number of the version.
  static let version = 1
  private static let client = 2
  private static let transaction = 3
  private static let change = 4
  private static let previous = 5
  private static let now = 6

  /// The columns. `t` is the transaction and `v` the version, each with its whole row as `row`; `p` is
  /// to be the whole row of the event's version before it, or null.
  static func columns(previous p: String) -> String {
    "t.token, v.id, host(t.client_address), t.row, v.row, \(p), clock_timestamp()"
  }

  /// How long ago the transaction in a row had been written when the server read it, by the server's
  /// clock.
  static func age(_ page: borrowing QueryResult, _ row: Int) throws -> Duration {
    guard let now = page.binaryTimestamp(row, now) else { throw incomplete }
    let at = try transaction(page, row).at.microseconds
    let (age, overflow) = now.subtractingReportingOverflow(at)
    return overflow ? .zero : .microseconds(age)
  }

  /// The transaction in a row.
  static func transaction(_ page: borrowing QueryResult, _ row: Int) throws -> ChangeTransaction {
    guard var fields = CompositeFields(page.binary(row, transaction)),
      let number = fields.next().integer, let nonce = fields.next().text,
      let token = ChangeToken(number: number, nonce: nonce)
    else {
      throw incomplete
    }
    fields.skip(1)  // transaction_id
    let author = fields.next().text
    let context = fields.next().text
    let application = fields.next().text
    let user = fields.next().text
    let process = fields.next().integer
    fields.skip(1)  // client_address, which comes as a column of its own, readable
    guard let at = fields.next().timestamp else { throw incomplete }
    let counts = ChangeCounts(
      inserted: fields.next().integer ?? 0, updated: fields.next().integer ?? 0,
      deleted: fields.next().integer ?? 0, truncated: fields.next().integer ?? 0)
    let importID = fields.next().integer
    guard !fields.isCutShort else { throw incomplete }
    return ChangeTransaction(
      token: token, author: author, context: context, application: application, user: user ?? "",
      processID: Int(process ?? 0), client: page.text(row, client),
      at: Timestamp(microseconds: at), importID: importID, counts: counts)
  }

  private static let incomplete = StoreError(
    .inconsistent, "the history holds an incomplete transaction")

  /// The change in a row.
  static func change(
    _ page: borrowing QueryResult, _ row: Int, of transaction: ChangeTransaction, at position: Int64
  ) throws -> Change {
    var fields = CompositeFields(page.binary(row, change))
    fields?.skip(2)  // id, transaction_id
    guard let op = fields?.next().text.flatMap({ ChangeOperation(rawValue: $0) }),
      let changed = fields?.next(), let values = try fields?.nextRecord()
    else {
      throw StoreError(.inconsistent, "the history holds an operation that is not known")
    }
    var old = op == .delete ? values : nil
    if op == .update {
      var previous = CompositeFields(page.binary(row, previous))
      previous?.skip(4)
      old = try previous?.nextRecord()
    }
    return Change(
      transaction: transaction, position: position, op: op, code: values.text(.code),
      changed: changed.textArray ?? [], old: old,
      new: op == .insert || op == .update ? values : nil)
  }
}
