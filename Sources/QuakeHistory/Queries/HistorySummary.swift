package import Postgres
package import QuakeModel

/// The statements that answer a query with a count or codes instead of changes.
struct HistorySummary {

  let historyQuery: HistoryQuery
  let range: HistoryRange

  /// How many changes there are, regardless of the limit.
  var count: SQL {
    var filter = historyQuery.filter
    filter.operations = nil
    let conditions = HistoryConditions(filter)
    // Without a condition on single changes, the counts of the transactions are the answer.
    guard conditions.change.isEmpty else { return "select count(*) \(sql: changes)" }
    let counts = HistoryConditions.counted(historyQuery.filter).joined(separator: " + ")
    return """
      select coalesce(sum(\(sql: counts)), 0)::bigint
        from quake.change_transaction t where \(sql: transactionConditions(conditions))
      """
  }

  /// The codes of the events with changes.
  var codes: SQL {
    """
    select distinct v.code collate "C" as code \(sql: changes) and v.op <> 'truncate'
     order by code \(sql: historyQuery.order == .descending ? "desc" : "")
     limit \(historyQuery.limit)
    """
  }

  /// The rest of a statement that selects from the changes.
  private var changes: SQL {
    let conditions = HistoryConditions(historyQuery.filter)
    let all = HistoryConditions.all([transactionConditions(conditions)] + conditions.change)
    return """
      from quake.change_transaction t
      join quake.quake_version v on v.transaction_id = t.transaction_id
      \(sql: conditions.before)
      where \(sql: all)
      """
  }

  private func transactionConditions(_ conditions: HistoryConditions) -> SQL {
    HistoryConditions.all(
      HistoryRange.conditions(after: range.after, upTo: range.upTo) + conditions.transaction)
  }
}

/// The net changes from one point of the history to another.
package enum HistoryDifference {
  /// Reads the difference of each event that is not the same at both points, by code. From a later point to
  /// an earlier one, the differences would undo the changes in between. Until `body` has had the last, the
  /// server keeps the snapshot of the beginning.
  ///
  /// - Parameters:
  ///   - start: The first point.
  ///   - end: The second point; nil: now.
  ///   - body: Gets each event's difference.
  /// - Throws: `StoreError` of kind `token` if a point is not in this history, or no longer.
  package static func read(
    from start: HistoryBound, to end: HistoryBound? = nil, over connection: Connection,
    _ body: (EventDifference) throws -> Void
  ) throws {
    let from = try start.resolve(over: connection)
    let to = try end?.resolve(over: connection) ?? HistoryReader.latestToken(over: connection)
    try StoreError.ofTokens {
      try connection.stream(statement(from, to)) { rows in
        for row in 0..<rows.rowCount { try body(try difference(rows, row)) }
      }
    }
  }

  static func difference(
    _ rows: borrowing QueryResult, _ row: Int
  ) throws -> EventDifference {
    let op = try ChangeDecoder.operation(rows.binary(row, Column.operation))
    guard let code = rows.binary(row, Column.code).text else {
      throw StoreError(.inconsistent, "the history holds a change of no event")
    }
    return EventDifference(
      op: op, code: code, changed: rows.binary(row, Column.changed).textArray ?? [],
      old: op == .insert ? nil : try rows.record(row, firstColumn: Column.old),
      new: op == .delete ? nil : try rows.record(row, firstColumn: Column.new))
  }

  /// The columns of the statements. Both events have all columns of `EventColumn`, whose positions count.
  enum Column {
    static let operation = 0
    static let code = 1
    static let changed = 2
    static let old = 3
    static let new = old + EventColumn.allCases.count
  }

  private static func statement(_ from: ChangeToken, _ to: ChangeToken) -> SQL {
    """
    select d.op, d.code, d.changed, \(sql: EventColumn.list(of: "(d.old)")),
           \(sql: EventColumn.list(of: "(d.new)"))
      from quake.difference(\(from), \(to)) with ordinality d order by d.ordinality
    """
  }
}
