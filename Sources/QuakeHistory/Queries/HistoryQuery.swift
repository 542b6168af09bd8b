public import Postgres
public import QuakeModel

/// A query of the history: its range, its filter and its order.
///
/// The query is a value. An answer holds only changes that are committed when it begins.
public struct HistoryQuery: Hashable, Sendable {
  /// The order of the changes.
  public enum Order: Hashable, Sendable {
    /// In commit order.
    case ascending
    /// The newest first, within a transaction, too.
    case descending
  }

  /// Only changes committed after this; nil: from the oldest change that the history still holds.
  public var after: HistoryBound?
  /// Only changes committed up to this, its own transaction included; nil: up to now.
  public var upTo: HistoryBound?
  /// Only this transaction; `after` and `upTo` are ignored then.
  public var transaction: ChangeToken?
  /// Only changes that come after this one in the order of the query, as the last change of a page read before;
  /// nil: from the beginning. `count` and `codes` ignore it.
  package var afterChange: ChangePosition?
  /// Which changes; the server decides as `EventFilter.accepts` does.
  public var filter = EventFilter()
  /// The order.
  public var order = Order.ascending
  /// The greatest number of changes, codes or transactions in the answer, from 1; nil: all.
  public var limit: Int64?

  /// A query of the whole history.
  public init() {}

  /// How many changes there are.
  ///
  /// - Throws: `StoreError` of kind `token` if the history does not reach from `after` to `upTo`.
  package func count(over connection: Connection) throws -> Int64 {
    let summary = HistorySummary(
      historyQuery: self, range: try HistoryRange(self, over: connection))
    let count = try StoreError.ofTokens { try connection.row(summary.count, as: Int64.self) }
    return min(count, limit ?? count)
  }

  /// The codes of the events with changes, each once, in the order of their bytes or, if the query is
  /// descending, in the reverse order. A truncate has no code.
  ///
  /// One statement finds them; the server keeps its snapshot until `body` has had the last.
  ///
  /// - Throws: `StoreError` of kind `token` if the history does not reach from `after` to `upTo`.
  package func codes(over connection: Connection, _ body: (String) throws -> Void) throws {
    let summary = HistorySummary(
      historyQuery: self, range: try HistoryRange(self, over: connection))
    try StoreError.ofTokens {
      try connection.forEachRow(summary.codes) { row in try body(try row["code"]) }
    }
  }
}

/// How far the answer to a query has been read.
struct HistoryQueryCursor: Equatable {
  /// The number after which the history must not be purged; nil: it may begin anywhere.
  var needed: Int64?
  /// The transaction of the change handed over last; before the first change, the one to begin with.
  var transaction: Int64
  /// The number of the version handed over last.
  var version: Int64
  /// Its position; nil if nothing of the transaction has been handed over.
  var position: Int64?
  /// By code, the number of the version handed over last.
  var versions: [String: Int64] = [:]
  /// The number of the version of the truncate handed over last.
  var truncate: Int64?

  /// Moves on to a version of a transaction.
  ///
  /// - Parameters:
  ///   - position: The change's.
  ///   - count: How many changes the transaction has.
  mutating func move(
    to version: Int64, at position: Int64, of transaction: Int64, count: Int64,
    _ order: HistoryQuery.Order
  ) {
    self.transaction = transaction
    self.version = version
    self.position = position
    guard order == .ascending else { return }
    // The history before it may be purged now, and so may a transaction that has been handed over whole.
    needed = transaction - 1
    if position + 1 == count {
      needed = transaction
      self.transaction = transaction + 1
      self.version = 0
      self.position = nil
    }
  }
}

extension HistoryQueryCursor {
  /// The cursor of an answer whose last change so far has this position.
  ///
  /// - Parameter codes: The codes, if the answer is read by codes.
  /// - Throws: `StoreError` of kind `token` if the position is not in this history, or no longer; of kind
  ///   `badData` if it is outside the range or has no change.
  init(
    after last: ChangePosition, _ range: HistoryRange, _ order: HistoryQuery.Order,
    codes: [String]?, over connection: Connection
  ) throws {
    try HistoryReader.verify(last.token, over: connection)
    let number = last.token.number
    let isInRange = number > range.after ?? 0 && number <= range.upTo
    let isAscending = order == .ascending
    // Counted from the end at which the pages began, as positions are, so that a missing change shows at the other end.
    let (place, direction): (SQL, SQL) =
      isAscending
      ? ("\(last.position)", "asc") : ("greatest(t.changes - 1 - \(last.position), 0)", "desc")
    let (changes, found) = try connection.row(
      """
      select t.changes,
             (select v.id from quake.quake_version v
               where v.transaction_id = t.transaction_id
               order by v.id \(sql: direction) offset \(sql: place) limit 1)
        from (select t.transaction_id, t.inserted + t.updated + t.deleted + t.truncated as changes
                from quake.change_transaction t where t.token = \(number)) t
      """, as: (Int64, Int64?).self)
    guard isInRange, last.position < changes else {
      throw StoreError(
        .badData, "there is no change \(last) in this part of the history",
        hint: "Use the cursor that came with the page before, and the same conditions.")
    }
    guard let version = found else {
      let held = try connection.row(
        """
        select count(*) from quake.change_transaction t
          join quake.quake_version v on v.transaction_id = t.transaction_id
         where t.token = \(number)
        """, as: Int64.self)
      throw HistoryLink.incomplete(last.token, changes: held)
    }
    self.init(
      needed: isAscending ? number - 1 : range.after, transaction: number, version: version,
      position: last.position)
    guard let codes else { return }
    let (furthest, before): (SQL, SQL) = isAscending ? ("max", "<=") : ("min", ">=")
    let rows = try connection.rows(
      """
      select v.code, v.op = 'truncate', \(sql: furthest)(v.id)
        from quake.change_transaction t
        join quake.quake_version v on v.transaction_id = t.transaction_id
       where t.token = \(number) and v.id \(sql: before) \(version)
         and (v.code = any (\(codes)::text[]) or v.op = 'truncate')
       group by 1, 2
      """, as: (String?, Bool, Int64).self)
    for (code, isTruncate, version) in rows {
      if isTruncate {
        truncate = version
      } else if let code {
        versions[code] = version
      }
    }
  }
}

/// The position of a change in the history: its transaction, and its number there.
///
/// Its text is `1042.9f3ac2d1:17`.
package struct ChangePosition: Hashable, Sendable {
  package let token: ChangeToken
  /// The change's number in the transaction, from 0.
  package let position: Int64

  package init(of change: Change) {
    token = change.transaction.token
    position = change.position
  }

  /// Reads the text of a position; nil for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let token = ChangeToken(String(parts[0])), token != .beginning,
      let position = Int64(parts[1]), position >= 0, "\(position)" == parts[1]
    else { return nil }
    self.token = token
    self.position = position
  }
}

extension ChangePosition: CustomStringConvertible {
  /// The form that `init(_:)` reads.
  package var description: String { "\(token):\(position)" }
}

/// The part of the history that a query selects, by the numbers of its transactions.
struct HistoryRange {
  /// The number after which it begins; nil: it begins with the oldest change.
  let after: Int64?
  /// The number of its last transaction.
  let upTo: Int64

  /// Resolves the bounds of a query.
  ///
  /// - Throws: `StoreError` of kind `token` if they are not in this history, or no longer; of kind `usage` if the
  ///   query is none that the server can answer.
  init(_ query: HistoryQuery, over connection: Connection) throws {
    guard query.limit ?? 0 >= 0 else {
      throw StoreError(.usage, "the limit of a query cannot be negative")
    }
    try query.filter.check()
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
  ///   - after: The number after which to begin, or nil.
  ///   - upTo: That of the last transaction.
  static func conditions(after: Int64?, upTo: Int64) -> [SQL] {
    let after: SQL = "\(after)::bigint"
    return [
      "(select \(sql: after) is null or quake.history_covers(\(sql: after)))",
      // Below the floor there are only the newest versions of events, which are not changes any more.
      "t.token > (select greatest(f.token, \(sql: after)) from quake.history_floor f)",
      "t.token <= \(upTo)::bigint",
    ]
  }
}

/// One end of a requested range of the history.
public enum HistoryBound: Hashable, Sendable {
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
  package func resolve(over connection: Connection) throws -> ChangeToken {
    switch self {
    case .token(let token):
      try HistoryReader.verify(token, over: connection)
      return token
    case .number(let number): return try Self.token(number, over: connection)
    case .time(let time):
      let token = try connection.row("select quake.token_at(\(time))", as: ChangeToken.self)
      do {
        try HistoryReader.verify(token, over: connection)
      } catch let error as StoreError where error.kind == .token(.expired) {
        // The error names the time, because a caller who gave a time does not know its token.
        throw StoreError(
          error.kind, "the history at \(time) was purged", detail: error.detail, hint: error.hint)
      }
      return token
    case .oldest:
      return try connection.row("select quake.oldest_token()", as: ChangeToken.self)
    }
  }

  /// When the first transaction was committed, by the server's clock; nil if there was none yet.
  package static func firstCommit(over connection: Connection) throws(PostgresError) -> Timestamp? {
    try connection.firstRow(
      "select at from quake.change_transaction order by token limit 1", format: .binary,
      as: Timestamp.self)
  }

  private static func token(
    _ number: Int64, over connection: Connection
  ) throws -> ChangeToken {
    guard number >= 0 else {
      throw StoreError(
        .token(.malformed), "there is no transaction \(number)",
        hint: "Transactions are numbered from 1; 0 is the beginning.")
    }
    let (found, newest) = try StoreError.ofTokens {
      try connection.row(
        """
        select (select t.token || '.' || t.nonce from quake.change_transaction t
                 where t.token = \(number) and quake.history_covers(\(number))), quake.latest_token()
        """, as: (ChangeToken?, ChangeToken).self)
    }
    if let found { return found }
    if number == 0 {
      try HistoryReader.verify(.beginning, over: connection)
      return .beginning
    }
    throw StoreError(
      .token(number > newest.number ? .future : .diverged), "there is no transaction \(number)",
      detail: "The newest token here is \(newest).",
      hint: "Numbers have gaps where a transaction failed at its commit.")
  }
}

extension StoreError {
  /// The database's error about a token (SQLSTATE QK001 to QK004); nil for any other error.
  public init?(token error: PostgresError) {
    let problem: TokenProblem
    switch error.sqlState {
    case StoreState.malformedToken: problem = .malformed
    case StoreState.expiredToken: problem = .expired
    case StoreState.divergedToken: problem = .diverged
    case StoreState.futureToken: problem = .future
    default: return nil
    }
    self.init(.token(problem), error.message, detail: error.detail, hint: error.hint)
  }

  /// Runs `body`; the database's errors about tokens become `StoreError`.
  package static func ofTokens<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as PostgresError {
      throw StoreError(token: error) ?? error
    }
  }
}
