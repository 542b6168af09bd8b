internal import Postgres
internal import QuakeModel

extension HistoryQueryCursor {
  /// The cursor of an answer whose last change so far has this position.
  ///
  /// - Parameter codes: The codes, if the answer is read by codes.
  /// - Throws: `StoreError` of kind `token` if the position is not in this history, or no longer; of kind
  ///   `badData` if it is outside the range or has no change.
  init(
    after last: ChangePosition, _ range: HistoryRange, _ order: HistoryQuery.Order,
    codes: [String]?, over connection: Connection
  ) throws {
    try HistoryReader.verify(last.token, over: connection)
    let number = last.token.number
    let isInRange = number > range.after ?? 0 && number <= range.upTo
    let row = try connection.execute(
      """
      select v.id
        from quake.change_transaction t
        join quake.quake_version v on v.transaction_id = t.transaction_id
       where t.token = $1 order by v.id offset $2 limit 1
      """, [.integer(number), .integer(last.position)])
    guard isInRange, let version = row.integer(0, 0) else {
      throw StoreError(
        .badData, "there is no change \(last) in this part of the history",
        hint: "Use the cursor that came with the page before, and the same conditions.")
    }
    let isAscending = order == .ascending
    self.init(
      needed: isAscending ? number - 1 : range.after, transaction: number, version: version,
      position: last.position)
    guard let codes else { return }
    let statement: SQL =
      isAscending
      ? """
      select v.code, v.op = 'truncate', max(v.id)
        from quake.change_transaction t
        join quake.quake_version v on v.transaction_id = t.transaction_id
       where t.token = $1 and v.id <= $2 and (v.code = any ($3::text[]) or v.op = 'truncate')
       group by 1, 2
      """
      : """
      select v.code, v.op = 'truncate', min(v.id)
        from quake.change_transaction t
        join quake.quake_version v on v.transaction_id = t.transaction_id
       where t.token = $1 and v.id >= $2 and (v.code = any ($3::text[]) or v.op = 'truncate')
       group by 1, 2
      """
    let rows = try connection.execute(
      statement, [.integer(number), .integer(version), .array(codes)])
    for row in 0..<rows.rowCount {
      if rows.bool(row, 1) == true {
        truncate = rows.integer(row, 2)
      } else if let code = rows.text(row, 0) {
        versions[code] = rows.integer(row, 2)
      }
    }
  }
}
