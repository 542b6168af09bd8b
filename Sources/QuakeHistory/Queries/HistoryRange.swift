internal import Postgres
internal import QuakeModel

/// The part of the history that a query selects, by the numbers of its transactions.
struct HistoryRange {
  /// The number after which it begins; nil: it begins with the oldest change.
  let after: Int64?
  /// The number of its last transaction.
  let upTo: Int64

  /// Resolves the bounds of a query.
  ///
  /// - Throws: `StoreError` of kind `token` if they are not in this history, or no longer.
  init(_ query: HistoryQuery, over connection: Connection) throws {
    if let token = query.transaction {
      try HistoryReader.verify(token, over: connection)
      // Nothing is before the beginning.
      after = max(0, token.number - 1)
      upTo = token.number
    } else {
      after = try query.after?.resolve(over: connection).number
      upTo =
        try query.upTo?.resolve(over: connection).number
        ?? HistoryReader.latestToken(over: connection).number
    }
  }

  /// The conditions for a transaction, alias `t`. The same statement, and so the same snapshot, tells whether
  /// a purge has reached the beginning.
  ///
  /// - Parameters:
  ///   - after: The parameter with the number after which to begin, or null.
  ///   - upTo: That with the number of the last transaction.
  static func conditions(after: String, upTo: String) -> [String] {
    [
      "(select \(after)::bigint is null or quake.history_covers(\(after)))",
      // Below the floor there are only the newest versions of events, which are not changes any more.
      "t.token > (select greatest(f.token, \(after)) from quake.history_floor f)",
      "t.token <= \(upTo)::bigint",
    ]
  }
}
