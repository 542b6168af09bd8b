internal import Postgres
internal import QuakeModel

/// The part of the history that a request asks for, by the numbers of its transactions.
struct HistoryRange {
  /// The number after which it begins; nil: with the oldest change that there is.
  let after: Int64?
  /// The number of its last transaction.
  let upTo: Int64

  /// Finds out what the bounds of a request mean.
  ///
  /// - Throws: `StoreError` of kind `token` if they are not in this history, or no longer.
  init(_ request: HistoryQuery, over connection: Connection) throws {
    if let token = request.transaction {
      try HistoryReader.verify(token, over: connection)
      after = token.number - 1
      upTo = token.number
    } else {
      after = try request.after?.resolve(over: connection).number
      upTo =
        try request.upTo?.resolve(over: connection).number
        ?? HistoryReader.latestToken(over: connection).number
    }
  }

  /// What must hold for a transaction, alias `t`. Whether a purge has reached the beginning is asked
  /// in the same statement, and so of the same snapshot.
  ///
  /// - Parameters:
  ///   - after: The parameter with the number after which to begin, or null.
  ///   - upTo: That with the number of the last transaction.
  static func conditions(after: String, upTo: String) -> [String] {
    [
      "(select \(after)::bigint is null or quake.history_covers(\(after)))",
      // Below the floor there are only the newest versions of events, which are no changes any more.
      "t.token > (select greatest(f.token, \(after)) from quake.history_floor f)",
      "t.token <= \(upTo)::bigint",
    ]
  }
}
