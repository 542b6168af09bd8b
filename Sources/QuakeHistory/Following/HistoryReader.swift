internal import Basics
package import Postgres
package import QuakeModel

/// Reads the history after a token, in commit order, a page at a time.
///
/// There are two kinds of pages. A live page has the newest changes, which a statement returns at once and
/// whole. After a full one there is a backlog, which is read in bulk pages: with COPY, of many rows, which are
/// handed over as they arrive, as many at a time as a live page has. Until all are handed over, the server
/// keeps the snapshot of the statement; another statement on the connection, and a pause, end that.
///
/// Otherwise it holds nothing but its cursor between two calls: however large the backlog, or a single
/// transaction in it, memory is bounded. Committed history does not change, so pages read by separate
/// statements fit together.
package struct HistoryReader {
  private let connection: Connection
  /// The newest transaction that has been handed over whole; or that of the cursor it began at, if
  /// that lies within a transaction.
  private(set) var token: ChangeToken
  /// The transaction being handed over, the id of its last version handed over and that one's
  /// position.
  private var partial: (transaction: ChangeTransaction, version: Int64, position: Int64)?
  /// How many changes of `token`'s own transaction an earlier reader has handed over; 0: all.
  private var done: Int64
  private var last: Row?
  /// The page that is being prefetched, and the row after which it begins.
  private var prefetch: (row: Row, size: PageSize, ticket: Connection.PrefetchTicket)?
  private var bulk: BulkPage?
  private var bulkSizes: BulkSizes
  private var bulkDecoder = BulkChangeDecoder()
  /// How many rows the next live page has.
  private var size = PageSize.full
  /// Whether the last page reached the end of the history.
  private var isAtEnd = false
  /// Measures of the answer with the last page; nil if the page was prefetched.
  private(set) var lastAnswer: PollThrottle.Answer?

  /// How far it has come: everything up to here has been handed over.
  package var cursor: HistoryCursor {
    guard let partial else { return HistoryCursor(token: token, changes: done) }
    return HistoryCursor(
      token: partial.transaction.token, changes: max(done, partial.position + 1))
  }

  /// A reader that begins after `cursor`.
  ///
  /// - Throws: `StoreError` of kind `token` if the token is not one of this history.
  package init(connection: Connection, after cursor: HistoryCursor) throws {
    try self.init(connection: connection, after: cursor, bulkSizes: BulkSizes())
  }

  /// The same with other sizes of bulk pages.
  init(
    connection: Connection, after cursor: HistoryCursor, bulkSizes: BulkSizes
  ) throws {
    guard cursor.changes >= 0 else {
      throw StoreError(
        .token(.malformed), "a cursor cannot be after \(cursor.changes) changes of a transaction")
    }
    self.connection = connection
    self.bulkSizes = bulkSizes
    token = cursor.token
    done = cursor.changes
    try verify()
  }

  /// A reader that begins after `token`.
  ///
  /// - Throws: `StoreError` of kind `token` if the token is not one of this history.
  package init(connection: Connection, after token: ChangeToken) throws {
    try self.init(connection: connection, after: HistoryCursor(token: token))
  }

  /// A reader that continues where `other` stopped, over a new connection.
  ///
  /// - Throws: `StoreError` of kind `token` if the server's history is not the one `other` has read.
  package init(connection: Connection, continuing other: HistoryReader) throws {
    self.connection = connection
    self.bulkSizes = other.bulkSizes
    self.token = other.token
    self.partial = other.partial
    self.done = other.done
    try verify()
    if let partial { try Self.verify(partial.transaction.token, over: connection) }
  }

  private func verify() throws {
    try Self.verify(token, over: connection)
    try connection.readWithOnePlan()
  }

  /// Makes sure that a token is one of the history there.
  ///
  /// - Throws: `StoreError` of kind `token` if it is not, or no longer.
  static func verify(_ token: ChangeToken, over connection: Connection) throws {
    try StoreError.ofTokens { _ = try connection.execute("select quake.token_number(\(token))") }
  }

  /// The newest token of a store; `beginning` if nothing has ever changed.
  package static func latestToken(over connection: Connection) throws -> ChangeToken {
    try connection.row("select quake.latest_token()", prepared: true, as: ChangeToken.self)
  }

  /// Whether the database is a copy that gets later what others have read already: on a hot standby, or a region. There,
  /// a token of the future may only not have arrived yet.
  package static func isCopy(_ connection: Connection) throws(PostgresError) -> Bool {
    try connection.row(
      """
      select pg_is_in_recovery()
          or exists (select from pg_subscription s join pg_database d on d.oid = s.subdbid
                      where d.datname = current_database() and starts_with(s.subname, 'quake_region_'))
      """, as: Bool.self)
  }

  /// A version of a transaction, as the database numbers them.
  private struct Row: Equatable {
    var transaction: Int64
    var version: Int64

    /// The parameters of a page that begins after it.
    var parameters: [Parameter] { [.integer(transaction), .integer(version)] }
  }

  /// Reads one page, or a part of a bulk page, and hands over its changes. While it does, the server reads
  /// on, if there is more.
  ///
  /// - Parameter body: Gets each change, in commit order. When it throws, the page counts as read up
  ///   to the change before.
  /// - Returns: Whether the end of the history was reached, as it was after the call began.
  /// - Throws: `StoreError` of kind `token` if the next changes have been purged meanwhile, or something is
  ///   missing before them.
  package mutating func readPage(_ body: (Change) throws -> Void) throws -> Bool {
    let before = cursor
    do {
      return try readNextPage(body)
    } catch let gap as Gap {
      // The caller first finishes what it got. The next page begins with the gap.
      guard cursor == before else { return false }
      throw gap.error
    }
  }

  /// Something is missing in the history after what has been handed over.
  private struct Gap: Error {
    let error: StoreError
  }

  private mutating func readNextPage(_ body: (Change) throws -> Void) throws -> Bool {
    lastAnswer = nil
    // A bulk read began before this call: more may have been committed since.
    if try readBulk(body) { return false }
    let prefetchedSize = prefetch?.size ?? size
    if let page = try takePrefetchedPage() {
      try handOver(page, of: prefetchedSize, body)
      // It was read before the call began: more may have been committed since.
      return false
    }
    let page = try queryPage()
    let size = size
    try handOver(page, of: size, body)
    guard page.rowCount < size.rows else { return false }
    // A transaction becomes visible as a whole.
    if let partial {
      throw Gap(
        error: HistoryLink.incomplete(partial.transaction.token, changes: partial.position + 1))
    }
    return true
  }

  /// The prefetched page, if it is the next one: the last may not have been handed over to its end.
  private mutating func takePrefetchedPage() throws -> QueryResult? {
    defer { prefetch = nil }
    guard let prefetch, prefetch.row == last else { return nil }
    do throws(PostgresError) {
      return try connection.takePrefetched(prefetch.ticket)
    } catch {
      // A prefetch does not know yet whether the last transaction is complete, and so requires more of
      // the history than the next page may need.
      if StoreError(token: error) != nil { return nil }
      if error.kind == .tooLarge {
        size = .small
        return nil
      }
      throw error
    }
  }

  private mutating func queryPage() throws -> QueryResult {
    let from: Row
    if let partial {
      from = Row(transaction: partial.transaction.token.number, version: partial.version)
    } else {
      from = Row(transaction: done > 0 ? token.number : token.number + 1, version: 0)
    }
    let sent = MonotonicClock.now()
    let page = try query(from)
    let time = MonotonicClock.now() - sent
    // After a full page, and in the first page, changes are old for reasons other than load.
    let age = isAtEnd && page.rowCount > 0 ? try Self.age(page) : nil
    lastAnswer = PollThrottle.Answer(time: time, isEmpty: page.rowCount == 0, age: age)
    isAtEnd = page.rowCount < size.rows
    return page
  }

  /// How old the first transaction of a page was when the server read it, by the server's clock.
  private static func age(_ page: borrowing QueryResult) throws -> Duration? {
    guard let now = page.binary(0, ChangeDecoder.composites.end).timestamp else { return nil }
    let at = try ChangeDecoder.composites.transaction(page, 0).at.microseconds
    let (age, overflow) = now.subtractingReportingOverflow(at)
    return overflow ? .zero : .microseconds(age)
  }

  private mutating func query(_ from: Row) throws -> QueryResult {
    while true {
      do throws(PostgresError) {
        return try connection.executePrepared(
          size.statement, from.parameters, format: .binary, limit: PageSize.limit)
      } catch {
        guard error.kind == .tooLarge, size == .full else {
          throw StoreError(token: error) ?? error
        }
        size = .small
      }
    }
  }

  private mutating func handOver(
    _ page: borrowing QueryResult, of pageSize: PageSize, _ body: (Change) throws -> Void
  ) throws {
    let count = page.rowCount
    if pageSize == .small, page.memorySize < PageSize.smallRows { size = .full }
    if count == pageSize.rows, let number = page.binary(count - 1, ChangeDecoder.token).integer,
      let version = page.binary(count - 1, ChangeDecoder.version).integer
    {
      let row = Row(transaction: number, version: version)
      if size == .full, bulkSizes.first > 0 {
        try beginBulk(after: row, rows: bulkSizes.first)
      } else {
        let ticket = try connection.prefetch(
          size.statement, row.parameters, format: .binary, limit: PageSize.limit)
        prefetch = (row, size, ticket)
      }
    }
    for row in 0..<count {
      try handOver(page, row: row, body)
      if row % 16 == 0 { try connection.receivePrefetched() }
    }
  }

  private mutating func handOver(
    _ page: borrowing QueryResult, row: Int, _ body: (Change) throws -> Void
  ) throws {
    guard let number = page.binary(row, ChangeDecoder.token).integer,
      let version = page.binary(row, ChangeDecoder.version).integer
    else { throw Self.withoutToken }
    let (transaction, position) = try place(number, version) {
      try ChangeDecoder.link(page, row)
    }
    if position >= done {
      try body(
        try ChangeDecoder.composites.change(page, row, of: transaction, at: position))
    }
    move(to: version, of: transaction, at: position)
  }

  private static let withoutToken = StoreError(
    .inconsistent, "the history returned a row without a token")

  /// The transaction and the position of the next version.
  ///
  /// - Parameter decode: Makes the transaction of the row, if the version is its first.
  /// - Throws: `Gap` if something is missing before it.
  private func place(
    _ number: Int64, _ version: Int64, _ decode: () throws -> HistoryLink
  ) throws -> (ChangeTransaction, Int64) {
    let transaction: ChangeTransaction
    let position: Int64
    if let partial, partial.transaction.token.number == number {
      guard version > partial.version else { throw Self.outOfOrder(number) }
      transaction = partial.transaction
      position = partial.position + 1
    } else {
      if let partial, number > partial.transaction.token.number {
        throw Gap(
          error: HistoryLink.incomplete(partial.transaction.token, changes: partial.position + 1))
      }
      if done > 0, number > token.number {
        throw Gap(error: HistoryLink.incomplete(token, changes: 0))
      }
      // The rows come in order because the server reads them through two indexes. If they ever do not,
      // the reader must stop rather than hand them over.
      guard partial == nil, done > 0 ? number == token.number : number > token.number else {
        throw Self.outOfOrder(number)
      }
      let link = try decode()
      if done == 0, let error = link.gap(after: token) { throw Gap(error: error) }
      transaction = link.transaction
      position = 0
    }
    guard done <= transaction.changeCount else {
      throw StoreError(
        .token(.malformed),
        "transaction \(transaction.token) has \(transaction.changeCount) \(transaction.changeCount == 1 ? "change" : "changes"), not \(done)",
        hint: "Continue after its token alone, or begin again with a snapshot.")
    }
    return (transaction, position)
  }

  /// Takes note that a version has been handed over.
  private mutating func move(
    to version: Int64, of transaction: ChangeTransaction, at position: Int64
  ) {
    last = Row(transaction: transaction.token.number, version: version)
    if position + 1 == transaction.changeCount {
      token = transaction.token
      partial = nil
      done = 0
    } else {
      partial = (transaction, version, position)
    }
  }

  private static func outOfOrder(_ number: Int64) -> StoreError {
    StoreError(
      .inconsistent, "the history returned transaction \(number) out of order",
      hint: "Please report this.")
  }

  // MARK: - Bulk pages

  /// A bulk page that is under way.
  private struct BulkPage {
    var ticket: Connection.PrefetchTicket
    /// The row handed over last, or after which it begins.
    var after: Row
    /// How many rows have been read, and how many were asked for.
    var read = 0
    var rows: Int
  }

  /// How many rows bulk pages have. Each page is planned anew, so few large ones are better; but the first are
  /// small, because most backlogs are.
  struct BulkSizes: Equatable {
    /// Rows of the first page after a live one; 0: none are read in bulk.
    var first = 1000
    /// Each page has four times the rows of the one before, up to this number.
    var most = 16_000
    /// The same once a page was cut short, which wastes what the server has read in advance.
    static let mostAfterCut = 4000

    func next(after rows: Int) -> Int { min(rows * 4, most) }
  }

  private mutating func beginBulk(after row: Row, rows: Int) throws(PostgresError) {
    let ticket = try connection.prefetchCopy(
      BulkPageSQL.page(of: rows, after: row.transaction, row.version),
      columns: BulkChangeDecoder.columnCount, rowLimit: Connection.longestRow)
    bulk = BulkPage(ticket: ticket, after: row, rows: rows)
  }

  /// Hands over as many changes of the bulk page as a live page has.
  ///
  /// - Returns: Whether there were any; if not, the next page is a live one.
  private mutating func readBulk(_ body: (Change) throws -> Void) throws -> Bool {
    guard var page = bulk else { return false }
    bulk = nil
    // The page before may not have been handed over to its end.
    guard page.after == last else {
      connection.dropPrefetched(page.ticket)
      return false
    }
    var failure: PostgresError?
    var hasEnded = false
    var count = 0
    let isThere = try connection.readPrefetchedCopy(page.ticket, after: page.read) { rows in
      var size = 0
      while count < Self.pageSize, size < PageSize.limit, !hasEnded {
        do throws(PostgresError) {
          hasEnded = try !rows.nextRow()
        } catch {
          failure = error
          return
        }
        guard !hasEnded else { break }
        try handOver(rows, body)
        count += 1
        size += rows.rowSize
        page.read += 1
      }
      // The next page begins while the caller works with this one.
      if page.read == page.rows, !hasEnded {
        do throws(PostgresError) {
          hasEnded = try !rows.nextRow()
        } catch {
          failure = error
          return
        }
      }
      if hasEnded, rows.isCutShort {
        bulkSizes.most = min(bulkSizes.most, BulkSizes.mostAfterCut)
      }
    }
    guard isThere else { return false }
    if let failure {
      // A prefetch does not know yet whether the last transaction is complete, and so requires more of the
      // history than the next page may need; the live page decides.
      guard StoreError(token: failure) != nil || failure.kind == .tooLarge else { throw failure }
      return count > 0
    }
    page.after = last ?? page.after
    if !hasEnded {
      bulk = page
    } else if page.read == page.rows {
      try beginBulk(after: page.after, rows: bulkSizes.next(after: page.rows))
    }
    return count > 0
  }

  private mutating func handOver(
    _ rows: borrowing CopyReader, _ body: (Change) throws -> Void
  ) throws {
    guard let (number, version) = BulkChangeDecoder.place(rows) else { throw Self.withoutToken }
    let (transaction, position) = try place(number, version) {
      try BulkChangeDecoder.link(rows)
    }
    if position >= done {
      try body(try bulkDecoder.change(rows, of: transaction, at: position))
    }
    move(to: version, of: transaction, at: position)
  }

  // MARK: - Live pages

  /// How much a live page holds: a number of rows. If a full page has too many bytes, a small one is read
  /// instead, so that memory does not depend on the length of the texts in the store.
  private enum PageSize {
    /// Rows as they usually are: 500 of them have some hundred kilobytes.
    case full
    /// Rows with the longest texts that the schema allows: a megabyte each, with the old values.
    case small

    var rows: Int { self == .full ? HistoryReader.pageSize : 2 }

    var statement: SQL { self == .full ? HistoryReader.fullPage : HistoryReader.smallPage }

    /// The most bytes that a page may have.
    static let limit = 2 << 20
    /// After a small page with fewer bytes, full pages are read again.
    static let smallRows = 64 << 10
  }

  static let pageSize = 500

  /// One statement, one round trip. It finds the transactions through their primary key, and the versions
  /// of each through theirs, which makes 1,000 small transactions as quick as one large one. The limits
  /// are constants so that the planner knows them. The transaction in which the last page ended is read
  /// again, hence one more transaction than rows. The same statement, and so the same snapshot, tells
  /// whether a purge has reached the cursor; the function is called only to raise the error.
  ///
  /// The transaction and the version are `$1` and `$2`, so that the text is made once and not at each commit.
  private static func page(of rows: Int) -> SQL {
    let from: SQL = "$1::bigint"
    let (most, oneMore) = (SQL(trusted: "\(rows)"), SQL(trusted: "\(rows + 1)"))
    return """
      select \(sql: columns), clock_timestamp()
        from (select t as row, t.token, t.transaction_id, t.client_address
                from quake.change_transaction t
               where (select case when \(sql: from) - 1 < f.token
                                  then quake.history_covers(\(sql: from) - 1) else true end
                        from quake.history_floor f where f.single)
                 and t.token >= \(sql: from)
               order by t.token limit \(sql: oneMore)) t
       cross join lateral (
         select v as row, v.id, v.op, v.code from quake.quake_version v
          where v.transaction_id = t.transaction_id
            and v.id > case when t.token = \(sql: from) then $2::bigint else 0 end
          order by v.id limit \(sql: most)) v
       limit \(sql: most)
      """
  }

  private static let fullPage = page(of: PageSize.full.rows)
  private static let smallPage = page(of: PageSize.small.rows)

  private static let columns = ChangeDecoder.compositeList(
    previous: """
      (select p from quake.quake_version p
        where v.op = 'update' and p.code = v.code and p.id < v.id
        order by p.id desc limit 1)
      """)
}
