internal import Postgres
internal import QuakeModel

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
