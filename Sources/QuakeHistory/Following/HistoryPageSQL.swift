internal import QuakeModel

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
