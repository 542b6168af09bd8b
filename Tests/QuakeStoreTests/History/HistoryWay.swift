import Postgres
import QuakeModel

@testable import QuakeHistory

/// Each way to read the history after a token.
enum HistoryWay: CaseIterable {
  case live, bulk, ascending, descending, transactions, changesSince, alertsSince
  case difference, differencePages

  /// How many changes, or events with differences, it reads after a token.
  func read(after token: ChangeToken, over connection: Connection) throws -> Int {
    var count = 0
    switch self {
    case .live, .bulk:
      var reader = try HistoryReader(
        connection: connection, after: HistoryCursor(token: token),
        bulkSizes: HistoryReader.BulkSizes(first: self == .live ? 0 : 7, most: 50))
      while try !reader.readPage({ _ in count += 1 }) {}
    case .ascending, .descending:
      var query = HistoryQuery()
      query.after = .token(token)
      query.order = self == .ascending ? .ascending : .descending
      var reader = try HistoryQueryReader(
        query, over: connection, limits: HistoryPage.Limits(rows: 90))
      while try !reader.readPage({ _ in count += 1 }) {}
    case .transactions:
      var query = HistoryQuery()
      query.after = .token(token)
      var reader = try HistoryTransactionReader(query, over: connection)
      while try !reader.readPage({ if case .change = $0 { count += 1 } }) {}
    case .changesSince, .alertsSince:
      let function: SQL = self == .changesSince ? "changes_since" : "alerts_since"
      do throws(PostgresError) {
        count = Int(
          try connection.row(
            "select count(*) from quake.\(sql: function)(\(token))", as: Int64.self))
      } catch {
        throw StoreError(token: error) ?? error
      }
    case .difference:
      try HistoryDifference.read(from: .token(token), over: connection) { _ in count += 1 }
    case .differencePages:
      try HistoryReader.verify(token, over: connection)
      let newest = try HistoryReader.latestToken(over: connection)
      var code: String?
      repeat {
        code = try HistoryDifference.readPage(
          from: token, to: newest, after: code, limit: 90, over: connection
        ) { _ in count += 1 }
      } while code != nil
    }
    return count
  }

  /// The error of the store with which it ends; nil: it reads all.
  func refusal(after token: ChangeToken, over connection: Connection) throws -> StoreError? {
    do {
      _ = try read(after: token, over: connection)
      return nil
    } catch let error as StoreError {
      return error
    }
  }
}
