public import Postgres
public import QuakeModel

/// Reads the transactions with changes that a query selects, and these changes, a page at a time.
///
/// It hands a transaction over in parts, because it may be larger than memory. The query's limit counts
/// transactions.
public struct HistoryTransactionReader {
  /// The parts of a transaction, in this order.
  public enum Part {
    /// A transaction begins.
    case begin(ChangeTransaction)
    /// One of its changes.
    case change(Change)
    /// It has no more changes that the query selects.
    case end(ChangeTransaction)
  }

  private var reader: HistoryQueryReader
  private var remaining: Int64?
  private var current: ChangeTransaction?

  /// A reader of the changes that `query` selects among those that are committed now.
  ///
  /// - Throws: `StoreError` of kind `token` if the history does not reach from `after` to `upTo`.
  public init(_ query: HistoryQuery, over connection: Connection) throws {
    remaining = query.limit
    var query = query
    query.limit = nil
    reader = try HistoryQueryReader(query, over: connection)
  }

  private struct LimitReached: Error {}

  /// Reads one page and hands over its parts. A transaction may begin in one page and end in
  /// another.
  ///
  /// - Parameter body: Gets each part. When it throws, the page counts as read up to the part before.
  /// - Returns: Whether that was all.
  /// - Throws: `StoreError` of kind `token` if the next changes have been purged meanwhile.
  public mutating func readPage(_ body: (Part) throws -> Void) throws -> Bool {
    var (current, remaining) = (current, remaining)
    defer { (self.current, self.remaining) = (current, remaining) }
    func end() throws {
      guard let transaction = current else { return }
      try body(.end(transaction))
      current = nil
    }
    do {
      let isAtEnd = try reader.readPage { change in
        if current?.token != change.transaction.token {
          try end()
          if remaining == 0 { throw LimitReached() }
          try body(.begin(change.transaction))
          current = change.transaction
          remaining = remaining.map { $0 - 1 }
        }
        try body(.change(change))
      }
      if isAtEnd { try end() }
      return isAtEnd
    } catch is LimitReached {
      return true
    }
  }
}
