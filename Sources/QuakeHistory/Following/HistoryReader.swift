public import Postgres
public import QuakeModel
internal import SystemClock

/// Reads the history after a token, in commit order, a page at a time.
///
/// Between two pages it holds no transaction and no more than its place: however large the backlog, or
/// a single transaction in it, memory is bounded. Committed history does not change, so pages read by
/// separate statements fit together.
public struct HistoryReader {
  private let connection: Connection
  /// The newest transaction that has been handed over whole; but that of the place it began at, if
  /// that place lies within a transaction.
  private(set) var token: ChangeToken
  /// The transaction being handed over, the id of its last version handed over and that one's
  /// position.
  private var partial: (transaction: ChangeTransaction, version: Int64, position: Int64)?
  /// How many changes of `token`'s own transaction an earlier reader has handed over; 0: all.
  private var done: Int64
  /// The row handed over last, and the one after which a page was asked for ahead.
  private var last: Row?
  private var ahead: (row: Row, size: PageSize, ticket: Connection.AheadTicket)?
  /// How many rows the next page has.
  private var size = PageSize.full
  private var pace = PollThrottle()
  /// Whether the page asked for last reached the end of the history.
  private var isAtEnd = false

  /// How far it has come: everything up to here has been handed over.
  public var place: HistoryCursor {
    guard let partial else { return HistoryCursor(token: token, changes: done) }
    return HistoryCursor(
      token: partial.transaction.token, changes: max(done, partial.position + 1))
  }

  /// A reader that begins after `place`.
  ///
  /// - Throws: `StoreError` of kind `token` if the token is not one of this history.
  public init(connection: Connection, after place: HistoryCursor) throws {
    self.connection = connection
    token = place.token
    done = place.changes
    try verify()
  }

  /// A reader that begins after `token`.
  ///
  /// - Throws: `StoreError` of kind `token` if the token is not one of this history.
  public init(connection: Connection, after token: ChangeToken) throws {
    try self.init(connection: connection, after: HistoryCursor(token: token))
  }

  /// A reader that goes on where `other` stopped, over a new connection.
  ///
  /// - Throws: `StoreError` of kind `token` if the server's history is not the one `other` has read.
  public init(connection: Connection, continuing other: HistoryReader) throws {
    self.connection = connection
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
    do throws(PostgresError) {
      try connection.execute("select quake.token_number($1)", [.text(token.description)])
    } catch {
      throw StoreError(token: error) ?? error
    }
  }

  /// The newest token of a store; `beginning` if nothing has ever changed.
  public static func latestToken(over connection: Connection) throws -> ChangeToken {
    let result = try connection.executePrepared("select quake.latest_token()")
    guard let token = result.text(0, 0).flatMap({ ChangeToken($0) }) else {
      throw StoreError(.inconsistent, "the store's newest token is not of the form of a token")
    }
    return token
  }

  /// A version of a transaction, as the database numbers them.
  private struct Row: Equatable {
    var transaction: Int64
    var version: Int64
  }

  /// Reads one page and hands over its changes. While it does, the server reads the next one, if there
  /// is more.
  ///
  /// - Parameter body: Gets each change, in commit order. When it throws, the page counts as read up
  ///   to the change before.
  /// - Returns: Whether the end of the history was reached, as it was after the call began.
  /// - Throws: `StoreError` of kind `token` if what comes next has been purged meanwhile.
  public mutating func readPage(_ body: (Change) throws -> Void) throws -> Bool {
    let asked = ahead?.size ?? size
    if let page = try takeAhead() {
      try handOver(page, of: asked, body)
      // It was asked for before the call began: more may have come since.
      return false
    }
    let page = try askForPage()
    let size = size
    try handOver(page, of: size, body)
    return page.rowCount < size.rows
  }

  /// The page that was asked for while the last one was being handed over, if it is the next one: the
  /// last may not have been handed over to its end.
  private mutating func takeAhead() throws -> QueryResult? {
    defer { ahead = nil }
    guard let ahead, ahead.row == last else { return nil }
    do throws(PostgresError) {
      return try connection.takeAhead(ahead.ticket)
    } catch {
      // Asking ahead does not know yet whether the last transaction is done, and so asks for more of
      // the history than may be needed.
      if StoreError(token: error) != nil { return nil }
      if error.kind == .tooLarge {
        size = .small
        return nil
      }
      throw error
    }
  }

  private mutating func askForPage() throws -> QueryResult {
    let from: Row
    if let partial {
      from = Row(transaction: partial.transaction.token.number, version: partial.version)
    } else {
      from = Row(transaction: done > 0 ? token.number : token.number + 1, version: 0)
    }
    let asked = MonotonicClock.now()
    let page = try ask(from)
    let answerTime = MonotonicClock.now() - asked
    // What comes after a full page, or to begin with, is old for other reasons.
    let age = isAtEnd && page.rowCount > 0 ? try Self.age(page) : nil
    pace.add(answerAfter: answerTime, isEmpty: page.rowCount == 0, age: age)
    isAtEnd = page.rowCount < size.rows
    return page
  }

  /// How old the first transaction of a page was when the server read it, by the server's clock.
  private static func age(_ page: borrowing QueryResult) throws -> Duration? {
    guard let now = page.binaryTimestamp(0, ChangeDecoder.composites.end) else { return nil }
    let at = try ChangeDecoder.composites.transaction(page, 0).at.microseconds
    let (age, overflow) = now.subtractingReportingOverflow(at)
    return overflow ? .zero : .microseconds(age)
  }

  private mutating func ask(_ from: Row) throws -> QueryResult {
    while true {
      do throws(PostgresError) {
        return try connection.executePrepared(
          size.statement, Self.parameters(from), format: .binary, limit: PageSize.limit)
      } catch {
        guard error.kind == .tooLarge, size == .full else {
          throw StoreError(token: error) ?? error
        }
        size = .small
      }
    }
  }

  /// How long the server should be left alone before it is asked for what is new.
  public var rest: Duration { pace.rest }

  /// Whether the server cannot keep up with all who listen: it is better to ask it after each `rest`
  /// than to have it ring.
  public var isCrowded: Bool { pace.isCrowded }

  private static func parameters(_ from: Row) -> [Parameter] {
    [.integer(from.transaction), .integer(from.version)]
  }

  private mutating func handOver(
    _ page: borrowing QueryResult, of asked: PageSize, _ body: (Change) throws -> Void
  ) throws {
    let count = page.rowCount
    if asked == .small, page.memorySize < PageSize.smallRows { size = .full }
    if count == asked.rows, let number = page.binaryInteger(count - 1, ChangeDecoder.token),
      let version = page.binaryInteger(count - 1, ChangeDecoder.version)
    {
      let row = Row(transaction: number, version: version)
      let ticket = try connection.prefetch(
        size.statement, Self.parameters(row), format: .binary, limit: PageSize.limit)
      ahead = (row, size, ticket)
    }
    for row in 0..<count {
      try handOver(page, row: row, body)
      if row % 16 == 0 { try connection.receiveAhead() }
    }
  }

  private mutating func handOver(
    _ page: borrowing QueryResult, row: Int, _ body: (Change) throws -> Void
  ) throws {
    guard let number = page.binaryInteger(row, ChangeDecoder.token),
      let version = page.binaryInteger(row, ChangeDecoder.version)
    else {
      throw StoreError(.inconsistent, "the history returned a row without a token")
    }
    let transaction: ChangeTransaction
    let position: Int64
    if let partial, partial.transaction.token.number == number {
      guard version > partial.version else { throw Self.outOfOrder(number) }
      transaction = partial.transaction
      position = partial.position + 1
    } else {
      // The rows come in order because they are read through two indexes; were they not, a reader
      // must stop rather than hand them over.
      guard partial == nil, done > 0 ? number == token.number : number > token.number else {
        throw Self.outOfOrder(number)
      }
      transaction = try ChangeDecoder.composites.transaction(page, row)
      position = 0
    }
    guard done <= transaction.changeCount else {
      throw StoreError(
        .token(.malformed),
        "transaction \(transaction.token) has \(transaction.changeCount) changes, not \(done)",
        hint: "Go on after its token alone, or begin again with a snapshot.")
    }
    if position >= done {
      try body(
        try ChangeDecoder.composites.change(page, row, of: transaction, at: position))
    }
    last = Row(transaction: number, version: version)
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

  /// How much a page holds: a number of rows, and a number of bytes, at which a full page is given up for
  /// a small one. So memory does not depend on how long the texts are that somebody has stored.
  private enum PageSize {
    /// Rows as they usually are: 500 of them have some hundred kilobytes.
    case full
    /// Rows with the longest texts that the schema allows: a megabyte each, with the old values.
    case small

    var rows: Int { self == .full ? HistoryReader.pageSize : 2 }
    var statement: SQL { self == .full ? HistoryReader.page : HistoryReader.smallPage }

    /// Bytes that a page may have.
    static let limit = 2 << 20
    /// A small page with fewer bytes ends the small pages.
    static let smallRows = 64 << 10
  }

  /// Rows in a full page.
  static let pageSize = 500

  private static let page = page(of: pageSize)
  private static let smallPage = page(of: PageSize.small.rows)

  /// One statement, one round trip. The transactions come through their primary key, each one's
  /// versions through theirs, which is what keeps 1,000 small transactions as quick as one large one;
  /// the limits are constants so that the planner knows. The transaction the last page ended in is
  /// read again, hence one more of them than rows. Whether a purge has reached the place is asked in
  /// the same statement, and so of the same snapshot; the function is called only to say that one has.
  private static func page(of rows: Int) -> SQL {
    SQL(
      trusted: """
        select \(ChangeDecoder.compositeList(previous: """
          (select p from quake.quake_version p
                  where v.op = 'update' and p.code = v.code and p.id < v.id
                  order by p.id desc limit 1)
          """)), clock_timestamp()
          from (select t as row, t.token, t.transaction_id, t.client_address
                  from quake.change_transaction t
                 where (select case when $1 - 1 < f.token then quake.history_covers($1 - 1)
                                    else true end
                          from quake.history_floor f where f.single)
                   and t.token >= $1
                 order by t.token limit \(rows + 1)) t
         cross join lateral (
           select v as row, v.id, v.op, v.code from quake.quake_version v
            where v.transaction_id = t.transaction_id
              and v.id > case when t.token = $1 then $2::bigint else 0 end
            order by v.id limit \(rows)) v
         limit \(rows)
        """)
  }
}
