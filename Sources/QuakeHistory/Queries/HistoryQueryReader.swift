package import Postgres
package import QuakeModel

/// Reads the changes that a query selects, a page at a time.
///
/// Between two pages it holds no transaction and nothing but its cursor: however many changes there are,
/// and however large a transaction, memory is bounded. A page may be empty if few changes pass the filter.
package struct HistoryQueryReader {
  private let connection: Connection
  private let limits: HistoryPage.Limits
  /// Pages of the same changes, each with fewer rows than the one before it.
  private let pages: [HistoryPage]
  /// The index of the pages that are read now: larger ones had too many bytes.
  private var size = 0
  private let order: HistoryQuery.Order
  private var remaining: Int64?
  private var cursor: HistoryQueryCursor
  /// The transaction of the change handed over last.
  private var transaction: ChangeTransaction?
  /// The page that is being prefetched, and the cursor after which it begins.
  private var prefetch: (cursor: HistoryQueryCursor, size: Int, ticket: Connection.PrefetchTicket)?
  private var isAtEnd = false

  /// A reader of the changes that `query` selects among those that are committed now.
  ///
  /// - Throws: `StoreError` of kind `token` if the history does not reach from `after` to `upTo`, or
  ///   `afterChange` is not in it; of kind `badData` if `afterChange` is outside this part of it.
  package init(_ query: HistoryQuery, over connection: Connection) throws {
    try self.init(query, over: connection, limits: HistoryPage.Limits())
  }

  /// The same with other limits of a page.
  init(
    _ query: HistoryQuery, over connection: Connection, limits: HistoryPage.Limits
  ) throws {
    self.connection = connection
    try connection.readInIndexOrder()
    let range = try HistoryRange(query, over: connection)
    self.limits = limits
    pages = ([limits.rows] + limits.fewerRows.filter { $0 < limits.rows }).map { rows in
      var limits = limits
      limits.rows = rows
      return HistoryPage(query, range, limits: limits)
    }
    order = query.order
    remaining = query.limit
    if let place = query.afterChange {
      cursor = try HistoryQueryCursor(
        after: place, range, query.order, codes: pages[0].codes, over: connection)
    } else {
      cursor = pages[0].beginning
    }
  }

  private var page: HistoryPage { pages[size] }

  /// Reads one page and hands over its changes. While it does, the server reads the next one, if there
  /// is more.
  ///
  /// - Parameter body: Gets each change, in the order of the query. When it throws, the page counts
  ///   as read up to the change before.
  /// - Returns: Whether that was all.
  /// - Throws: `StoreError` of kind `token` if the next changes have been purged meanwhile.
  package mutating func readPage(_ body: (Change) throws -> Void) throws -> Bool {
    guard !isAtEnd, remaining != 0 else { return true }
    let result = try nextPage()
    let page = page
    // Only if a larger page of such rows is not too large again. In memory they take more than on the way.
    if size > 0,
      result.memorySize / max(result.rowCount, 1) < limits.bytes / pages[size - 1].rows
    {
      size -= 1
    }
    try handOver(result, of: page, body)
    return isAtEnd || remaining == 0
  }

  private mutating func nextPage() throws -> QueryResult {
    while true {
      do throws(PostgresError) {
        defer { prefetch = nil }
        // The last page may not have been handed over to its end.
        if let prefetch, prefetch.cursor == cursor,
          let page = try connection.takePrefetched(prefetch.ticket)
        {
          size = prefetch.size
          return page
        }
        return try connection.executePrepared(
          page.statement(after: cursor), format: .binary, limit: limits.bytes)
      } catch {
        guard error.kind == .tooLarge, size + 1 < pages.count else {
          throw StoreError(token: error) ?? error
        }
        size += 1
      }
    }
  }

  private mutating func handOver(
    _ result: borrowing QueryResult, of page: HistoryPage, _ body: (Change) throws -> Void
  ) throws {
    let count = result.rowCount
    let isLast = count < page.rows && !isEdge(result, count - 1)
    if !isLast, remaining.map({ $0 > count }) ?? true { try prefetchPage(result) }
    for row in 0..<count {
      let (next, position) = try step(result, row, from: cursor)
      if result.binary(row, HistoryPage.passes).bool == true {
        try body(try change(result, row, at: position))
        remaining = remaining.map { $0 - 1 }
      }
      cursor = next
      if remaining == 0 { break }
      if row % 16 == 0 { try connection.receivePrefetched() }
    }
    isAtEnd = isLast
  }

  private func isEdge(_ result: borrowing QueryResult, _ row: Int) -> Bool {
    row >= 0 && result.binary(row, HistoryPage.isEdge).bool == true
  }

  private mutating func prefetchPage(_ result: borrowing QueryResult) throws {
    var end = cursor
    for row in 0..<result.rowCount { (end, _) = try step(result, row, from: end) }
    let ticket = try connection.prefetch(
      page.statement(after: end), format: .binary, limit: limits.bytes)
    prefetch = (end, size, ticket)
  }

  private mutating func change(
    _ result: borrowing QueryResult, _ row: Int, at position: Int64
  ) throws -> Change {
    let number = result.binary(row, ChangeDecoder.token).integer
    if let transaction, transaction.token.number == number {
      return try ChangeDecoder.columns.change(result, row, of: transaction, at: position)
    }
    let new = try ChangeDecoder.columns.transaction(result, row)
    transaction = new
    return try ChangeDecoder.columns.change(result, row, of: new, at: position)
  }

  /// The cursor after a row, and the position of the row's change.
  private func step(
    _ result: borrowing QueryResult, _ row: Int, from cursor: HistoryQueryCursor
  ) throws -> (HistoryQueryCursor, Int64) {
    guard let number = result.binary(row, ChangeDecoder.token).integer,
      let version = result.binary(row, ChangeDecoder.version).integer,
      var position = result.binary(row, HistoryPage.position).integer,
      // A number above these limits is no position; the limit keeps sums from overflowing.
      [number, version, position].allSatisfy({ $0.magnitude < 1 << 60 })
    else {
      throw StoreError(.inconsistent, "the history returned a row without a token")
    }
    let isBeyond =
      order == .ascending
      ? (number, version) > (cursor.transaction, cursor.version)
      : (number, version) < (cursor.transaction, cursor.version)
    // The rows come in order because the server reads them through indexes. If they ever do not, the
    // reader must stop rather than hand them over.
    guard isBeyond else {
      throw StoreError(
        .inconsistent, "the history returned transaction \(number) out of order",
        hint: "Please report this.")
    }
    let count = ChangeDecoder.changeCount(result, row)
    var next = cursor
    if page.codes != nil {
      let known = number == cursor.transaction ? cursor.position : nil
      position = order == .ascending ? (known ?? -1) + position : (known ?? count) - position
      if let code = ChangeDecoder.code(result, row) {
        next.versions[code] = version
      } else {
        next.truncate = version
      }
    }
    next.move(to: version, at: position, of: number, count: count, order)
    return (next, position)
  }
}

/// Reads the transactions with changes that a query selects, and these changes, a page at a time.
///
/// It hands a transaction over in parts, because it may be larger than memory. The query's limit counts
/// transactions.
package struct HistoryTransactionReader {
  /// The parts of a transaction, in this order.
  package enum Part {
    case begin(ChangeTransaction)
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
  package init(_ query: HistoryQuery, over connection: Connection) throws {
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
  package mutating func readPage(_ body: (Part) throws -> Void) throws -> Bool {
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
