package import Postgres
package import QuakeModel

/// Walks through all transactions that the history holds complete, and finds the places where something is missing.
///
/// It begins after the oldest valid token, because a purge removes earlier changes. Each batch is a statement of its
/// own, so that the walk holds no snapshot.
package struct HistoryVerification {
  /// A place where something is missing, or something is there that was not.
  package enum Gap: Equatable, Sendable {
    /// The history holds `next` after `token`, but `next` was committed after another transaction: the token or the
    /// number `predecessor`.
    case transactions(after: ChangeToken, next: ChangeToken, predecessor: String)
    /// Of a transaction's changes the history holds another number than it had.
    case changes(of: ChangeToken, had: Int64, holds: Int64)
  }

  /// The token after which the walk began.
  package let start: ChangeToken
  /// The last transaction that was looked at.
  package private(set) var end: ChangeToken
  /// How many transactions were looked at.
  package private(set) var transactions: Int64 = 0
  /// How many of them do not name the one before, because they are older than that column.
  package private(set) var unlinked: Int64 = 0
  private let connection: Connection

  /// A walk that begins after the oldest valid token.
  package init(over connection: Connection) throws {
    self.connection = connection
    start = try HistoryBound.oldest.resolve(over: connection)
    end = start
  }

  /// The number of transactions that the walk will look at, if no more are committed.
  package func count() throws(PostgresError) -> Int64 {
    try connection.row(
      "select count(*) from quake.change_transaction t where t.token > \(start.number)",
      as: Int64.self)
  }

  /// Looks at the next transactions.
  ///
  /// - Parameter body: Gets each gap.
  /// - Returns: Whether there are no more.
  package mutating func readBatch(_ body: (Gap) throws -> Void) throws -> Bool {
    var last: ChangeToken?
    let gaps = try connection.rows(Self.batch(after: end)) { row throws(PostgresError) -> Gap? in
      if last == nil {
        last = try row["last"]
        transactions += try row["transactions"]
        unlinked += try row["unlinked"]
      }
      return try Self.gap(row)
    }
    guard let last else { return true }
    end = last
    for case let gap? in gaps { try body(gap) }
    return false
  }

  private static func gap(_ row: borrowing SQLRow) throws(PostgresError) -> Gap? {
    guard let token: ChangeToken = try row["token"] else { return nil }
    if let predecessor: String = try row["predecessor"] {
      return .transactions(after: try row["before"], next: token, predecessor: predecessor)
    }
    return .changes(of: token, had: try row["had"], holds: try row["holds"])
  }

  /// The first row describes the batch. It and the following ones have a gap each; if there is none, it is null.
  private static func batch(after token: ChangeToken) -> SQL {
    """
    with start as materialized (
      -- A purge may have raised the floor meanwhile.
      select greatest(\(token.number)::bigint, f.token) as token from quake.history_floor f
    ), batch as materialized (
      select t.token, t.token || '.' || t.nonce as name, t.predecessor, t.transaction_id,
             t.inserted + t.updated + t.deleted + t.truncated as had
        from quake.change_transaction t
       where t.token > (select s.token from start s) order by t.token limit 5000
    ), linked as materialized (
      select b.*, lag(b.name, 1, coalesce(
               (select t.token || '.' || t.nonce from quake.change_transaction t
                 where t.token <= (select s.token from start s) order by t.token desc limit 1),
               '0')) over (order by b.token) as before
        from batch b
    ), gap as (
      select l.token as number, l.name as token, l.before, l.predecessor, null::bigint as had, null::bigint as holds
        from linked l
       where l.predecessor <> l.before and l.predecessor <> split_part(l.before, '.', 1)
      union all
      select l.token, l.name, null, null, l.had, v.holds
        from linked l
       cross join lateral (
         select count(*) as holds from quake.quake_version v where v.transaction_id = l.transaction_id) v
       where l.had <> v.holds
    )
    select s.*, g.token, g.before, g.predecessor, g.had, g.holds
      from (select count(*) as transactions, count(*) - count(b.predecessor) as unlinked,
                   (select l.name from batch l order by l.token desc limit 1) as last
              from batch b having count(*) > 0) s
      left join gap g on true
     order by g.number
    """
  }
}
