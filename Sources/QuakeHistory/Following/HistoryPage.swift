internal import Postgres
internal import QuakeModel

/// The statement that reads a page of the answer to a query.
///
/// It has two forms. One walks through the transactions and reads the versions of each through their
/// primary key. It looks at no more than `scanned` versions at a time, so that it ends soon however few of
/// them pass. The other, for a few events, reads the index on their codes and merges the results.
struct HistoryPage {
  /// The limits of a page.
  struct Limits {
    /// Rows in a page.
    var rows = 500
    /// Bytes in a page. If a page has more, a smaller one is read instead.
    var bytes = 2 << 20
    /// Rows in a smaller one: with the longest texts that the schema allows, a megabyte each.
    var smallRows = 2
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

  /// The statement.
  let statement: SQL
  /// How many rows a full page has.
  let rows: Int
  /// The codes, for the form by codes.
  let codes: [String]?
  private let conditions: HistoryConditions
  private let range: HistoryRange
  private let isAscending: Bool

  init(_ query: HistoryQuery, _ range: HistoryRange, limits: Limits) {
    self.range = range
    isAscending = query.order == .ascending
    rows = Int(min(Int64(limits.rows), query.limit ?? .max))
    let codes = query.filter.codes.map { $0.filter { !$0.utf8.contains(0) }.sorted() }
    if let codes, codes.count <= limits.codes {
      self.codes = codes
      // The statement searches for each code by itself.
      var filter = query.filter
      filter.codes = nil
      conditions = HistoryConditions(filter, firstParameter: 7)
    } else {
      self.codes = nil
      conditions = HistoryConditions(query.filter, firstParameter: 6, ofTransaction: "v")
    }
    let sql = HistoryPageSQL(
      conditions: conditions, isAscending: isAscending, rows: rows, scanned: limits.scanned)
    statement = SQL(trusted: self.codes == nil ? sql.walk : sql.merge)
  }

  /// The cursor at which to begin.
  var beginning: HistoryQueryCursor {
    isAscending
      ? HistoryQueryCursor(needed: range.after, transaction: (range.after ?? 0) + 1, version: 0)
      : HistoryQueryCursor(needed: range.after, transaction: range.upTo, version: .max)
  }

  /// The statement's parameters for the page after a cursor.
  func parameters(after cursor: HistoryQueryCursor) -> [Parameter] {
    let start: [Parameter] = [
      .integer(cursor.needed), .integer(range.upTo), .integer(cursor.transaction),
      .integer(cursor.version),
    ]
    guard let codes else { return start + [.integer(cursor.position)] + conditions.parameters }
    let edge: Int64 = isAscending ? 0 : .max
    let versions = codes.map { cursor.versions[$0] ?? edge } + [cursor.truncate ?? edge]
    return start + [.array(codes), .array(versions)] + conditions.parameters
  }
}

/// The text of `HistoryPage`'s statements. Parameters: `$1` the number after which the history must not be
/// purged, or null; `$2` that of the last transaction; `$3` and `$4` the transaction and the version handed
/// over last. In the form by transactions, `$5` is its position. In the form by codes, `$5` are the codes,
/// and `$6` the version handed over last for each of them, followed by that for truncates.
struct HistoryPageSQL {
  let conditions: HistoryConditions
  let isAscending: Bool
  /// Rows in a page.
  let rows: Int
  /// Versions that the server examines for a page.
  let scanned: Int

  private var direction: String { isAscending ? "asc" : "desc" }
  /// How numbers beyond a given one compare with it.
  private var beyond: String { isAscending ? ">" : "<" }
  private static let lastVersion = Int64.max

  private static let transaction = """
    t.token, t.nonce, t.author, t.context, t.application_name, t.database_user, t.process_id, \
    t.client_address, t.at, t.inserted, t.updated as updates, t.deleted, t.truncated, t.import_id
    """

  /// The event's version before an update, alias `p`.
  private static let previous = """
    left join lateral (
      select * from quake.quake_version p
       where v.op = 'update' and p.code = v.code and p.id < v.id
       order by p.id desc limit 1) p on true
    """

  private static let output = """
    \(ChangeDecoder.columnList(transaction: "v", updated: "updates")), \(QuakeColumn.list(of: "p"))
    """

  private var transactionConditions: String {
    HistoryConditions.all(
      HistoryRange.conditions(after: "$1", upTo: "$2")
        + ["t.token \(beyond)= $3::bigint"] + conditions.transaction)
  }

  /// Walks through the transactions in the order of the indexes, without sorting. The last version that a
  /// page examines is returned even if it does not pass, to tell where the next page begins.
  var walk: String {
    """
    select \(Self.output), v.position, v.scanned = \(scanned), v.passes
      from (
        select v.*, \(passes) as passes
          from (
            select \(Self.transaction), v.*, row_number() over () as scanned
              from (select * from quake.change_transaction t where \(transactionConditions)
                     order by t.token \(direction) limit \(scanned + 1)) t
             cross join lateral (
               select v.*, \(walkedPosition) as position
                 from quake.quake_version v
                where v.transaction_id = t.transaction_id
                  and v.id \(beyond) case when t.token = $3 then $4::bigint else \(edge) end
                order by v.id \(direction) limit \(scanned)) v
             limit \(scanned)) v
          \(conditions.before)
         where v.scanned = \(scanned) or \(passes)
         limit \(rows)) v
      \(Self.previous)
    """
  }

  private var edge: String { isAscending ? "0" : "\(Self.lastVersion)" }

  private var passes: String { HistoryConditions.all(conditions.change) }

  private var walkedPosition: String {
    let row = "row_number() over (order by v.id \(direction))"
    return isAscending
      ? "case when t.token = $3 then coalesce($5::bigint, -1) else -1 end + \(row)"
      : """
      coalesce(case when t.token = $3 then $5::bigint end,
               t.inserted + t.updated + t.deleted + t.truncated) - \(row)
      """
  }

  /// Merges the versions of some events, which come in the order of their ids for each event.
  var merge: String {
    """
    select \(Self.output),
           (select count(*) from quake.quake_version o
             where o.transaction_id = v.transaction_id and \(between)), false, true
      from (
        select v.*, lag(v.id) over (partition by v.token order by v.id \(direction)) as neighbour
          from (
            select v.* from unnest($5::text[]) with ordinality c (code, place)
             cross join lateral (\(versions("v.code = c.code", after: "c.place"))) v
            union all
            select v.* from (\(versions("v.op = 'truncate'", after: "cardinality($6::bigint[])"))) v
          ) v
         order by v.token \(direction), v.id \(direction) limit \(rows)) v
      \(Self.previous)
     order by v.token \(direction), v.id \(direction)
    """
  }

  private func versions(_ condition: String, after place: String) -> String {
    """
    select \(Self.transaction), v.*
      from quake.quake_version v
      join quake.change_transaction t on t.transaction_id = v.transaction_id
      \(conditions.before)
     where \(condition) and v.id \(beyond) ($6::bigint[])[\(place)]
       and \(transactionConditions) and \(passes)
     order by v.id \(direction) limit \(rows)
    """
  }

  /// The condition for a transaction's versions between a row and the one before it.
  private var between: String {
    isAscending
      ? """
      o.id > coalesce(v.neighbour, case when v.token = $3 then $4::bigint end, 0)
             and o.id <= v.id
      """
      : """
      o.id >= v.id
             and o.id < coalesce(v.neighbour, case when v.token = $3 then $4::bigint end, \(edge))
      """
  }
}

/// The text of the statement of a bulk page. Parameters, for which COPY needs literals: `$1` and `$2`, the
/// transaction and the version handed over last, as for a live page.
enum BulkPageSQL {
  /// The page of at most `rows` changes.
  ///
  /// As in a live page, the transactions are found through their primary key and the versions of each through
  /// theirs, and the same snapshot tells whether a purge has reached the cursor. Other than there, each field
  /// of an event is a column, and the transaction comes with its first change alone.
  static func page(of rows: Int) -> SQL {
    SQL(
      trusted: """
        select \(BulkChangeDecoder.columnList(
          transaction: "t", isFirst: "v.id = t.first", version: "v", previous: previous))
          from (select t as row, t.token, t.transaction_id, t.client_address,
                       (select f.id from quake.quake_version f
                         where f.transaction_id = t.transaction_id and f.id > \(begin)
                         order by f.id limit 1) as first
                  from quake.change_transaction t
                 where (select case when $1::bigint - 1 < f.token
                                    then quake.history_covers($1::bigint - 1) else true end
                          from quake.history_floor f where f.single)
                   and t.token >= $1::bigint
                 order by t.token limit \(rows + 1)) t
         cross join lateral (
           select v.id, v.op, v.changed, \(QuakeColumn.list(of: "v")) from quake.quake_version v
            where v.transaction_id = t.transaction_id and v.id > \(begin)
            order by v.id limit \(rows)) v
         limit \(rows)
        """)
  }

  private static let previous = """
    case when v.op = 'update' then (select p from quake.quake_version p
                                     where p.code = v.code and p.id < v.id
                                     order by p.id desc limit 1) end
    """

  private static let begin = "case when t.token = $1::bigint then $2::bigint else 0 end"
}
