internal import Postgres
internal import QuakeModel

/// The statement that reads a page of the answer to a query.
///
/// It has two forms. One walks through the transactions and reads the versions of each through their
/// primary key. It looks at no more than `scanned` versions at a time, so that it ends soon however few of
/// them pass. The other, for a few events, reads the index on their codes and merges the results.
///
/// The first form makes sure that no change is missing in the transactions that it walks through, and no transaction
/// among them, unless a condition selects transactions.
struct HistoryPage {
  struct Limits {
    var rows = 500
    /// Bytes in a page. If a page has more, one with fewer rows is read instead.
    var bytes = 2 << 20
    /// Rows in pages with fewer. The last are for the longest texts that the schema allows, a megabyte each.
    var fewerRows = [32, 2]
    /// Versions that the server examines for a page.
    var scanned = 10_000
    /// With more codes than this, walking through the transactions is quicker.
    var codes = 50
  }

  /// The column with the position of a change; in the form by codes, with its distance from the change
  /// before it.
  static let position = ChangeDecoder.columns.end
  /// The column that says whether the page ends here because the limit `scanned` is reached.
  static let isEdge = position + 1
  /// The column that says whether the change passes; the last version of a page is returned even if not.
  static let passes = position + 2

  /// How many rows a full page has.
  let rows: Int
  let codes: [String]?
  fileprivate let conditions: HistoryConditions
  fileprivate let range: HistoryRange
  fileprivate let isAscending: Bool
  fileprivate let scanned: Int

  init(_ query: HistoryQuery, _ range: HistoryRange, limits: Limits) {
    self.range = range
    isAscending = query.order == .ascending
    rows = Int(min(Int64(limits.rows), query.limit ?? .max))
    scanned = limits.scanned
    let codes = query.filter.codes.map { $0.filter { !$0.utf8.contains(0) }.sorted() }
    if let codes, codes.count <= limits.codes {
      self.codes = codes
      // The statement searches for each code by itself.
      var filter = query.filter
      filter.codes = nil
      conditions = HistoryConditions(filter)
    } else {
      self.codes = nil
      conditions = HistoryConditions(query.filter, ofTransaction: "v")
    }
  }

  /// The cursor at which to begin.
  var beginning: HistoryQueryCursor {
    isAscending
      ? HistoryQueryCursor(needed: range.after, transaction: (range.after ?? 0) + 1, version: 0)
      : HistoryQueryCursor(needed: range.after, transaction: range.upTo, version: .max)
  }

  /// The statement for the page after a cursor. Its text is the same for all cursors.
  func statement(after cursor: HistoryQueryCursor) -> SQL {
    let sql = HistoryPageSQL(self, after: cursor)
    guard let codes else { return sql.walk(from: cursor.position) }
    let edge: Int64 = isAscending ? 0 : .max
    return sql.merge(
      codes, versions: codes.map { cursor.versions[$0] ?? edge } + [cursor.truncate ?? edge])
  }
}

struct HistoryPageSQL {
  private let conditions: HistoryConditions
  private let isAscending: Bool
  private let rows: SQL
  /// Versions that the server examines for a page.
  private let scanned: Int
  private let transactionConditions: SQL
  private let range: (after: Int64?, upTo: Int64)
  /// The transaction and the version handed over last.
  private let transaction: SQL
  private let version: SQL

  init(_ page: HistoryPage, after cursor: HistoryQueryCursor) {
    conditions = page.conditions
    isAscending = page.isAscending
    rows = SQL(trusted: "\(page.rows)")
    scanned = page.scanned
    range = (cursor.needed, page.range.upTo)
    transaction = "\(cursor.transaction)::bigint"
    version = "\(cursor.version)::bigint"
    let beyond: SQL = isAscending ? ">" : "<"
    transactionConditions = HistoryConditions.all(
      HistoryRange.conditions(after: range.after, upTo: range.upTo)
        + ["t.token \(sql: beyond)= \(sql: transaction)"] + conditions.transaction)
  }

  private var direction: SQL { isAscending ? "asc" : "desc" }
  /// How numbers beyond a given one compare with it.
  private var beyond: SQL { isAscending ? ">" : "<" }
  private static let lastVersion = Int64.max

  private static let transaction: SQL = """
    t.token, t.nonce, t.author, t.context, t.application_name, t.database_user, t.process_id, \
    t.client_address, t.at, t.inserted, t.updated as updates, t.deleted, t.truncated, t.import_id
    """

  /// The event's version before an update, alias `p`.
  private static let previous: SQL = """
    left join lateral (
      select * from quake.quake_version p
       where v.op = 'update' and p.code = v.code and p.id < v.id
       order by p.id desc limit 1) p on true
    """

  private static let output: SQL = """
    \(sql: ChangeDecoder.columnList(transaction: "v", updated: "updates")), \
    \(sql: EventColumn.list(of: "p"))
    """

  /// Walks through the transactions in the order of the indexes, without sorting. The last version that a
  /// page examines is returned even if it does not pass, to tell where the next page begins.
  ///
  /// Each transaction that the page walks through to its end must have as many versions as it had changes. So its
  /// versions are numbered, and the number of versions in the transactions before follows from their counts.
  ///
  /// - Parameter position: That of the version handed over last.
  func walk(from position: Int64?) -> SQL {
    // The limits are constants so that the planner knows them.
    let (scanned, oneMore) = (SQL(trusted: "\(scanned)"), SQL(trusted: "\(scanned + 1)"))
    return """
      with page as materialized (
          select v.*, \(sql: passes) as passes
            from (
              select \(sql: Self.transaction), v.*, t.walked + v.nth as scanned,
                     \(sql: isAscending ? "t.had - t.remaining - 1 + v.nth" : "t.remaining - v.nth") as position
                from (\(sql: walkedTransactions(from: "\(position)::bigint", limit: oneMore))) t
                left join lateral (
                 select v.*, row_number() over (order by v.id \(sql: direction)) as nth,
                        lead(v.id) over (order by v.id \(sql: direction)) is null as is_last
                   from quake.quake_version v
                  where v.transaction_id = t.transaction_id
                    and v.id \(sql: beyond) case when t.token = \(sql: transaction) then \(sql: version)
                                                else \(sql: edge) end
                  order by v.id \(sql: direction) limit \(sql: scanned)) v on true
               -- A transaction without versions has one row without any.
               where case when coalesce(v.is_last, true) and coalesce(v.nth, 0) <> t.remaining
                          then quake.token__refuse_loss(t.token || '.' || t.nonce, t.had,
                                                        t.had - t.remaining + coalesce(v.nth, 0))
                          else v.id is not null end
               limit \(sql: scanned)) v
            \(sql: conditions.before)
           where v.scanned = \(sql: scanned) or \(sql: passes)
           limit \(sql: rows))
      select \(sql: Self.output), v.position, v.scanned = \(sql: scanned), v.passes
        from page v
        \(sql: Self.previous)
       where \(sql: isWhole)
      """
  }

  /// The transactions that a page walks through: how many changes each had, how many of them have not been handed
  /// over, and how many versions the page has walked through before it.
  ///
  /// - Parameter position: That of the version handed over last.
  private func walkedTransactions(from position: SQL, limit: SQL) -> SQL {
    let had: SQL = "t.inserted + t.updated + t.deleted + t.truncated"
    let remaining: SQL =
      isAscending
      ? "t.had - case when t.token = \(sql: transaction) then coalesce(\(sql: position) + 1, 0) else 0 end"
      : "coalesce(case when t.token = \(sql: transaction) then \(sql: position) end, t.had)"
    // Sums of bigint are numeric, which takes longer. As long as they are below 2^53, those of doubles are exact.
    return """
      select t.*, (sum(t.remaining::double precision) over (order by t.token \(sql: direction)
                     rows unbounded preceding))::bigint - t.remaining as walked
                        from (select t.*, \(sql: remaining) as remaining
                                from (select t.*, \(sql: had) as had from quake.change_transaction t
                                       where \(sql: transactionConditions)) t) t
                       order by t.token \(sql: direction) limit \(sql: limit)
      """
  }

  /// The condition that no transaction is missing among those that the page has walked through; an error if one is.
  private var isWhole: SQL {
    // A condition on transactions may skip any number of them, which must not be read one by one.
    guard conditions.transaction.isEmpty else { return "true" }
    let isLast: SQL = """
      count(*) < \(sql: rows) and not coalesce(bool_or(p.scanned = \(sql: SQL(trusted: "\(scanned)"))), false)
      """
    return isAscending
      ? """
      (select quake.history__changes(\(sql: transaction) - 1, (
         select case when \(sql: isLast) then \(range.upTo)::bigint else max(p.token) end from page p)) >= 0)
      """
      : """
      (select quake.history__changes((
         select case when \(sql: isLast) then coalesce(\(range.after)::bigint, 0) else min(p.token) - 1 end
           from page p), \(sql: transaction)) >= 0)
      """
  }

  private var edge: SQL { isAscending ? "0" : SQL(trusted: "\(Self.lastVersion)") }

  private var passes: SQL { HistoryConditions.all(conditions.change) }

  /// Merges the versions of some events, which come in the order of their ids for each event.
  ///
  /// - Parameter versions: The version handed over last for each of the codes, followed by that for truncates.
  func merge(_ codes: [String], versions: [Int64]) -> SQL {
    let last: SQL = "\(versions)::bigint[]"
    let ofEvents = self.versions("v.code = c.code", after: "(\(sql: last))[c.place]")
    let ofTruncates = self.versions(
      "v.op = 'truncate'", after: "(\(sql: last))[cardinality(\(sql: last))]")
    return """
      select \(sql: Self.output),
             (select count(*) from quake.quake_version o
               where o.transaction_id = v.transaction_id and \(sql: between)), false, true
        from (
          select v.*, lag(v.id) over (partition by v.token order by v.id \(sql: direction)) as neighbour
            from (
              select v.* from unnest(\(codes)::text[]) with ordinality c (code, place)
               cross join lateral (\(sql: ofEvents)) v
              union all
              select v.* from (\(sql: ofTruncates)) v
            ) v
           order by v.token \(sql: direction), v.id \(sql: direction) limit \(sql: rows)) v
        \(sql: Self.previous)
       order by v.token \(sql: direction), v.id \(sql: direction)
      """
  }

  private func versions(_ condition: SQL, after last: SQL) -> SQL {
    """
    select \(sql: Self.transaction), v.*
      from quake.quake_version v
      join quake.change_transaction t on t.transaction_id = v.transaction_id
      \(sql: conditions.before)
     where \(sql: condition) and v.id \(sql: beyond) \(sql: last)
       and \(sql: transactionConditions) and \(sql: passes)
     order by v.id \(sql: direction) limit \(sql: rows)
    """
  }

  /// The condition for a transaction's versions between a row and the one before it.
  private var between: SQL {
    let handedOver: SQL = "case when v.token = \(sql: transaction) then \(sql: version) end"
    return isAscending
      ? """
      o.id > coalesce(v.neighbour, \(sql: handedOver), 0)
             and o.id <= v.id
      """
      : """
      o.id >= v.id
             and o.id < coalesce(v.neighbour, \(sql: handedOver), \(sql: edge))
      """
  }
}

/// The text of the statement of a bulk page.
enum BulkPageSQL {
  /// The page of at most `rows` changes after the transaction and the version handed over last, as for a live
  /// page.
  ///
  /// As in a live page, the transactions are found through their primary key and the versions of each through
  /// theirs, and the same snapshot tells whether a purge has reached the cursor. Other than there, each field
  /// of an event is a column, and the transaction comes with its first change alone.
  static func page(of rows: Int, after transaction: Int64, _ version: Int64) -> SQL {
    let from: SQL = "\(transaction)::bigint"
    let begin: SQL = "case when t.token = \(sql: from) then \(version)::bigint else 0 end"
    // The limits are constants so that the planner knows them.
    let (most, oneMore) = (SQL(trusted: "\(rows)"), SQL(trusted: "\(rows + 1)"))
    return """
      select \(sql: columns)
        from (select t as row, t.token, t.transaction_id, t.client_address,
                     (select f.id from quake.quake_version f
                       where f.transaction_id = t.transaction_id and f.id > \(sql: begin)
                       order by f.id limit 1) as first
                from quake.change_transaction t
               where (select case when \(sql: from) - 1 < f.token
                                  then quake.history_covers(\(sql: from) - 1) else true end
                        from quake.history_floor f where f.single)
                 and t.token >= \(sql: from)
               order by t.token limit \(sql: oneMore)) t
       cross join lateral (
         select v.id, v.op, v.changed, \(sql: events) from quake.quake_version v
          where v.transaction_id = t.transaction_id and v.id > \(sql: begin)
          order by v.id limit \(sql: most)) v
       limit \(sql: most)
      """
  }

  private static let events = EventColumn.list(of: "v")

  private static let columns = BulkChangeDecoder.columnList(
    transaction: "t", isFirst: "v.id = t.first", version: "v",
    previous: """
      case when v.op = 'update' then (select p from quake.quake_version p
                                       where p.code = v.code and p.id < v.id
                                       order by p.id desc limit 1) end
      """)
}
