public import Postgres
public import QuakeModel

/// Reads the changes that a request asks for, a page at a time.
///
/// Between two pages it holds no transaction and no more than its place: however much there is, and
/// however much of it in one transaction, memory is bounded. A page may hold nothing where little
/// passes the filter.
public struct HistoryQueryReader {
  private let connection: Connection
  private let limits: HistoryPage.Limits
  private let fullPage: HistoryPage
  private let smallPage: HistoryPage
  /// Whether pages have few rows, because full ones had too many bytes.
  private var isSmall = false
  private let order: HistoryQuery.Order
  private var remaining: Int64?
  private var place: HistoryQueryCursor
  /// The transaction of the change handed over last.
  private var transaction: ChangeTransaction?
  /// The place after which a page was asked for ahead.
  private var ahead: (place: HistoryQueryCursor, isSmall: Bool, ticket: Connection.AheadTicket)?
  private var isAtEnd = false

  /// A reader of what `request` asks for; what is committed from now on is not part of it.
  ///
  /// - Throws: `StoreError` of kind `token` if the history does not reach from `after` to `upTo`.
  public init(_ request: HistoryQuery, over connection: Connection) throws {
    try self.init(request, over: connection, limits: HistoryPage.Limits())
  }

  /// The same with other limits of a page.
  init(
    _ request: HistoryQuery, over connection: Connection, limits: HistoryPage.Limits
  ) throws {
    self.connection = connection
    try connection.readInIndexOrder()
    let range = try HistoryRange(request, over: connection)
    self.limits = limits
    fullPage = HistoryPage(request, range, limits: limits)
    var small = limits
    small.rows = min(limits.rows, limits.smallRows)
    smallPage = HistoryPage(request, range, limits: small)
    order = request.order
    remaining = request.limit
    place = fullPage.beginning
  }

  private var page: HistoryPage { isSmall ? smallPage : fullPage }

  /// Reads one page and hands over its changes. While it does, the server reads the next one, if there
  /// is more.
  ///
  /// - Parameter body: Gets each change, in the order of the request. When it throws, the page counts
  ///   as read up to the change before.
  /// - Returns: Whether that was all.
  /// - Throws: `StoreError` of kind `token` if what comes next has been purged meanwhile.
  public mutating func readPage(_ body: (Change) throws -> Void) throws -> Bool {
    guard !isAtEnd, remaining != 0 else { return true }
    let result = try nextPage()
    let page = page
    if isSmall, result.memorySize < limits.bytes / 64 { isSmall = false }
    try handOver(result, of: page, body)
    return isAtEnd || remaining == 0
  }

  private mutating func nextPage() throws -> QueryResult {
    while true {
      do throws(PostgresError) {
        defer { ahead = nil }
        // The last page may not have been handed over to its end.
        if let ahead, ahead.place == place, let page = try connection.takeAhead(ahead.ticket) {
          isSmall = ahead.isSmall
          return page
        }
        return try connection.executePrepared(
          page.statement, page.parameters(after: place), format: .binary, limit: limits.bytes)
      } catch {
        guard error.kind == .tooLarge, !isSmall else { throw StoreError(token: error) ?? error }
        isSmall = true
      }
    }
  }

  private mutating func handOver(
    _ result: borrowing QueryResult, of page: HistoryPage, _ body: (Change) throws -> Void
  ) throws {
    let count = result.rowCount
    let isLast = count < page.rows && !isEdge(result, count - 1)
    if !isLast, remaining.map({ $0 > count }) ?? true { try askAhead(result) }
    for row in 0..<count {
      let (next, position) = try step(result, row, from: place)
      if result.binaryBool(row, HistoryPage.passes) == true {
        try body(try change(result, row, at: position))
        remaining = remaining.map { $0 - 1 }
      }
      place = next
      if remaining == 0 { break }
      if row % 16 == 0 { try connection.receiveAhead() }
    }
    isAtEnd = isLast
  }

  private func isEdge(_ result: borrowing QueryResult, _ row: Int) -> Bool {
    row >= 0 && result.binaryBool(row, HistoryPage.isEdge) == true
  }

  private mutating func askAhead(_ result: borrowing QueryResult) throws {
    var end = place
    for row in 0..<result.rowCount { (end, _) = try step(result, row, from: end) }
    let ticket = try connection.prefetch(
      page.statement, page.parameters(after: end), format: .binary, limit: limits.bytes)
    ahead = (end, isSmall, ticket)
  }

  private mutating func change(
    _ result: borrowing QueryResult, _ row: Int, at position: Int64
  ) throws -> Change {
    if let transaction, transaction.token.number == result.binaryInteger(row, 0) {
      return try ChangeRow.change(result, row, of: transaction, at: position)
    }
    let new = try ChangeRow.transaction(result, row)
    transaction = new
    return try ChangeRow.change(result, row, of: new, at: position)
  }

  /// The place after a row, and the position of the row's change.
  private func step(
    _ result: borrowing QueryResult, _ row: Int, from place: HistoryQueryCursor
  ) throws -> (HistoryQueryCursor, Int64) {
    guard let number = result.binaryInteger(row, 0),
      let version = result.binaryInteger(row, ChangeRow.version),
      var position = result.binaryInteger(row, HistoryPage.position),
      // A number above these limits is no position; the limit keeps sums from overflowing.
      [number, version, position].allSatisfy({ $0.magnitude < 1 << 60 })
    else {
      throw StoreError(.inconsistent, "the history returned a row without a token")
    }
    let isBeyond =
      order == .ascending
      ? (number, version) > (place.transaction, place.version)
      : (number, version) < (place.transaction, place.version)
    // The rows come in order because they are read through indexes; were they not, a reader must stop
    // rather than hand them over.
    guard isBeyond else {
      throw StoreError(
        .inconsistent, "the history returned transaction \(number) out of order",
        hint: "Please report this.")
    }
    let count = ChangeRow.counts(result, row).total
    var next = place
    if page.codes != nil {
      let known = number == place.transaction ? place.position : nil
      position = order == .ascending ? (known ?? -1) + position : (known ?? count) - position
      if let code = ChangeRow.code(result, row) {
        next.versions[code] = version
      } else {
        next.truncate = version
      }
    }
    next.move(to: version, at: position, of: number, count: count, order)
    return (next, position)
  }
}
