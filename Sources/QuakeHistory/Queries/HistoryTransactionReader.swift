public import Postgres
public import QuakeModel

/// Reads the transactions that hold changes a request asks for, with these changes, a page at a time.
///
/// A transaction comes in parts, since it may be larger than memory. The request's limit counts
/// transactions.
public struct HistoryTransactionReader {
  /// What is handed over, one after the other.
  public enum Part {
    /// A transaction begins.
    case begin(ChangeTransaction)
    /// One of its changes.
    case change(Change)
    /// It has no more that the request asks for.
    case end(ChangeTransaction)
  }

  private var reader: HistoryQueryReader
  private var remaining: Int64?
  private var current: ChangeTransaction?

  /// A reader of what `request` asks for; what is committed from now on is not part of it.
  ///
  /// - Throws: `StoreError` of kind `token` if the history does not reach from `after` to `upTo`.
  public init(_ request: HistoryQuery, over connection: Connection) throws {
    remaining = request.limit
    var request = request
    request.limit = nil
    reader = try HistoryQueryReader(request, over: connection)
  }

  private struct LimitReached: Error {}

  /// Reads one page and hands over what is in it. A transaction may begin in one page and end in
  /// another.
  ///
  /// - Parameter body: Gets each part. When it throws, the page counts as read up to the part before.
  /// - Returns: Whether that was all.
  /// - Throws: `StoreError` of kind `token` if what comes next has been purged meanwhile.
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
