public import Postgres
public import QuakeModel

/// One end of a requested range of the history.
public enum HistoryBound: Sendable {
  /// After the transaction of a token.
  case token(ChangeToken)
  /// After the transaction of this number in commit order.
  case number(Int64)
  /// After the last transaction committed by that time, by the server's clock.
  case time(Timestamp)
  /// Before the oldest change that is still held.
  case oldest

  /// The token of the transaction.
  ///
  /// - Throws: `StoreError` of kind `token` if it is not in this history, or no longer.
  public func resolve(over connection: Connection) throws -> ChangeToken {
    switch self {
    case .token(let token):
      try HistoryReader.verify(token, over: connection)
      return token
    case .number(let number): return try Self.token(number, over: connection)
    case .time(let time):
      let text = try connection.execute("select quake.token_at($1)", [.text("\(time)")]).text(0, 0)
      let token = try Self.token(text)
      do {
        try HistoryReader.verify(token, over: connection)
      } catch let error as StoreError where error.kind == .token(.expired) {
        // The error names the time, because a caller who gave a time does not know its token.
        throw StoreError(
          error.kind, "the history at \(time) was purged", detail: error.detail, hint: error.hint)
      }
      return token
    case .oldest:
      return try Self.token(try connection.execute("select quake.oldest_token()").text(0, 0))
    }
  }

  /// When the first transaction was committed, by the server's clock; nil if there was none yet.
  public static func firstCommit(over connection: Connection) throws(PostgresError) -> Timestamp? {
    try connection.execute(
      "select at from quake.change_transaction order by token limit 1", format: .binary
    ).firstTimestamp
  }

  private static func token(
    _ number: Int64, over connection: Connection
  ) throws -> ChangeToken {
    let row: QueryResult
    do throws(PostgresError) {
      row = try connection.execute(
        """
        select (select t.token || '.' || t.nonce from quake.change_transaction t
                 where t.token = $1 and quake.history_covers($1)), quake.latest_token()
        """, [.integer(number)])
    } catch {
      throw StoreError(token: error) ?? error
    }
    if let text = row.text(0, 0) { return try token(text) }
    if number == 0 {
      try HistoryReader.verify(.beginning, over: connection)
      return .beginning
    }
    let newest = try token(row.text(0, 1))
    throw StoreError(
      .token(number > newest.number ? .future : .diverged), "there is no transaction \(number)",
      detail: "The newest token here is \(newest).",
      hint: "Numbers have gaps where a transaction failed at its commit.")
  }

  private static func token(_ text: String?) throws -> ChangeToken {
    guard let token = text.flatMap({ ChangeToken($0) }) else {
      throw StoreError(
        .inconsistent, "the store's history has a token that is not of a token's form")
    }
    return token
  }
}

extension QueryResult {
  /// The moment that is the only value; nil if it is null, or there is no row.
  var firstTimestamp: Timestamp? {
    rowCount == 0 ? nil : binaryTimestamp(0, 0).map { Timestamp(microseconds: $0) }
  }
}
