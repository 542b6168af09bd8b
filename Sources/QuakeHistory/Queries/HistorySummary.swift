package import Postgres
package import QuakeModel

/// The statements that answer a query with a count or codes instead of changes.
struct HistorySummary {
  /// A statement and its parameters.
  struct Query {
    let statement: SQL
    let parameters: [Parameter]

    /// Runs `body`; the server's errors about tokens become `StoreError`.
    func run<Value>(_ body: (SQL, [Parameter]) throws -> Value) throws -> Value {
      do {
        return try body(statement, parameters)
      } catch let error as PostgresError {
        throw StoreError(token: error) ?? error
      }
    }
  }

  let historyQuery: HistoryQuery
  let range: HistoryRange

  /// How many changes there are, regardless of the limit.
  var count: Query {
    var filter = historyQuery.filter
    filter.operations = nil
    let conditions = HistoryConditions(filter, firstParameter: 3)
    // Without a condition on single changes, the counts of the transactions are the answer.
    guard conditions.change.isEmpty else { return query { "select count(*) \($0)" } }
    let counts = HistoryConditions.counted(historyQuery.filter).joined(separator: " + ")
    return Query(
      statement: SQL(
        trusted: """
          select coalesce(sum(\(counts)), 0)::bigint
            from quake.change_transaction t where \(transactionConditions(conditions))
          """),
      parameters: parameters(conditions))
  }

  /// The codes of the events with changes.
  var codes: Query {
    query { changes in
      """
      select distinct v.code collate "C" as code \(changes) and v.op <> 'truncate'
       order by code \(historyQuery.order == .descending ? "desc" : "")
       \(historyQuery.limit.map { "limit \($0)" } ?? "")
      """
    }
  }

  private func query(_ select: (_ changes: String) -> String) -> Query {
    let conditions = HistoryConditions(historyQuery.filter, firstParameter: 3)
    let all = HistoryConditions.all([transactionConditions(conditions)] + conditions.change)
    return Query(
      statement: SQL(
        trusted: select(
          """
          from quake.change_transaction t
          join quake.quake_version v on v.transaction_id = t.transaction_id
          \(conditions.before)
          where \(all)
          """)),
      parameters: parameters(conditions))
  }

  private func parameters(_ conditions: HistoryConditions) -> [Parameter] {
    [.integer(range.after), .integer(range.upTo)] + conditions.parameters
  }

  private func transactionConditions(_ conditions: HistoryConditions) -> String {
    HistoryConditions.all(
      HistoryRange.conditions(after: "$1", upTo: "$2") + conditions.transaction)
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
    do {
      try connection.stream(statement, [.text("\(from)"), .text("\(to)")]) { rows in
        for row in 0..<rows.rowCount { try body(try difference(rows, row)) }
      }
    } catch let error as PostgresError {
      throw StoreError(token: error) ?? error
    }
  }

  private static func difference(
    _ rows: borrowing QueryResult, _ row: Int
  ) throws -> EventDifference {
    guard let op = rows.text(row, 0).flatMap({ ChangeOperation(rawValue: $0) }),
      let code = rows.text(row, 1)
    else {
      throw StoreError(.inconsistent, "the history holds an operation that is not known")
    }
    let columns = QuakeColumn.allCases.count
    return EventDifference(
      op: op, code: code, changed: rows.binaryTextArray(row, 2) ?? [],
      old: op == .insert ? nil : try rows.record(row, firstColumn: 3),
      new: op == .delete ? nil : try rows.record(row, firstColumn: 3 + columns))
  }

  private static let statement = SQL(
    trusted: """
      select d.op, d.code, d.changed, \(QuakeColumn.list(of: "(d.old)")),
             \(QuakeColumn.list(of: "(d.new)"))
        from quake.difference($1, $2) with ordinality d order by d.ordinality
      """)
}
