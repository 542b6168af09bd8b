package import Postgres
package import QuakeModel

extension HistoryDifference {
  /// Reads the differences of a page, by code: those of the next `limit` events that have changes between two
  /// points. Events that are the same at both points count, so that a page has at most `limit` differences, or
  /// none at all.
  ///
  /// What it costs beside the page itself is to find the codes of the changes between the points.
  ///
  /// - Parameters:
  ///   - code: The page begins after this code; nil: with the first.
  ///   - body: Gets each event's difference.
  /// - Returns: The code after which the next page begins; nil: there is none.
  /// - Throws: `StoreError` of kind `token` if a point is not in this history, or no longer.
  package static func readPage(
    from first: ChangeToken, to last: ChangeToken, after code: String?, limit: Int,
    over connection: Connection, _ body: (EventDifference) throws -> Void
  ) throws -> String? {
    var (count, next, hasMore) = (0, nil as String?, false)
    try StoreError.ofTokens {
      try connection.stream(page(first, last, after: code, limit: limit)) { rows in
        for row in 0..<rows.rowCount {
          // One more tells whether there is a next page.
          guard count < limit else {
            hasMore = true
            continue
          }
          count += 1
          next = rows.binary(row, Column.code).text
          guard rows.binary(row, Column.operation).text != nil else { continue }
          try body(try difference(rows, row))
        }
      }
    }
    return hasMore ? next : nil
  }

  /// The differences of `quake.difference` for the events of a page, and rows without an operation for the others.
  private static func page(
    _ first: ChangeToken, _ last: ChangeToken, after code: String?, limit: Int
  ) -> SQL {
    let isBackwards = first.number > last.number
    let (low, high) = isBackwards ? (last, first) : (first, last)
    let (old, new): (SQL, SQL) = isBackwards ? ("n", "o") : ("o", "n")
    let (existed, exists): (SQL, SQL) =
      isBackwards ? ("c.is_high", "c.is_low") : ("c.is_low", "c.is_high")
    let changed = EventColumn.allCases.filter { $0 != .code }.map { column -> SQL in
      """
      case when o.\(identifier: column.name) is distinct from n.\(identifier: column.name)
           then \(column.name) end
      """
    }.joined(separator: ", ")
    let (touched, isWhole) = touched(after: code, limit: limit)
    return """
      with bounds as materialized (
        -- An invalid token is an error, and so are transactions that are missing between the points.
        select n.low, n.high, quake.history__changes(n.low, n.high) as changes
          from (select quake.token_number(\(low)) as low, quake.token_number(\(high)) as high) n
      ), transactions as materialized (
        -- By itself, and compared with values: in a join with their changes, which cost so much more, the planner would
        -- take reading all transactions for as good as their index.
        select t.transaction_id from quake.change_transaction t
         where t.token > (select b.low from bounds b) and t.token <= (select b.high from bounds b)
      ), \(sql: touched), truncates as materialized (
        select coalesce(max(v.id) filter (where t.token <= b.low), 0) as before_low,
               coalesce(max(v.id), 0) as before_high,
               coalesce(bool_or(t.token > b.low), false) as between_them,
               -- This row is read in any case, and with it all of its columns.
               \(sql: isWhole) as is_whole
          from bounds b
         cross join quake.quake_version v
          join quake.change_transaction t on t.transaction_id = v.transaction_id
         where v.op = 'truncate' and t.token <= b.high
      ), page as materialized (
        select p.code, p.first, p.last
          from (select t.code, t.first, t.last from touched t
                 union all
                -- A truncate has removed events of which no version says so.
                select q.code, null, null
                  from truncates e cross join lateral quake.as_of(\(low)) q
                 where e.between_them and (\(code)::text is null or q.code collate "C" > \(code))
                   and not exists (select from touched t where t.code = q.code)) p
         order by p.code collate "C"
         limit \(Int64(limit) + 1)
      ), compared as (
        select p.code, o, n, s.is_low, s.is_high,
               case when s.is_low and s.is_high
                    then array_remove(array[\(sql: changed)]::text[], null) else '{}' end as changed
          from page p
         cross join bounds b
         cross join truncates e
          left join lateral (\(sql: newest("p.last", upTo: "b.high"))) n on true
          left join lateral (\(sql: newest("p.first - 1", upTo: "b.low"))) o on true
         cross join lateral (
            select coalesce(o.id > e.before_low and o.op <> 'delete', false) as is_low,
                   coalesce(n.id > e.before_high and n.op <> 'delete', false) as is_high) s
      )
      select case when not \(sql: existed) and \(sql: exists) then 'insert'
                  when \(sql: existed) and not \(sql: exists) then 'delete'
                  when c.changed <> '{}' then 'update' end as op,
             c.code, c.changed, \(sql: EventColumn.list(of: "(c.\(sql: old))")),
             \(sql: EventColumn.list(of: "(c.\(sql: new))"))
        from compared c
       order by c.code collate "C"
      """
  }

  /// The codes of the events that changed between the points, as `touched`, with the first and the last of their versions
  /// there, and the condition that no change is missing there.
  ///
  /// The first page counts the changes while it finds their codes. Later pages look for missing transactions alone: to
  /// count what they leave out would take half as long again.
  private static func touched(after code: String?, limit: Int) -> (ctes: SQL, isWhole: SQL) {
    let changes: SQL = """
      from transactions t
           cross join lateral (
             select v.code, v.id from quake.quake_version v
              where v.transaction_id = t.transaction_id offset 0) v
      """
    guard code == nil else {
      let ctes: SQL = """
        touched as materialized (
          select v.code, min(v.id) as first, max(v.id) as last \(sql: changes)
           where v.code is not null and v.code collate "C" > \(code)
           group by v.code
           order by v.code collate "C"
           limit \(Int64(limit) + 1)
        )
        """
      return (ctes, "true")
    }
    // The row without a code has all changes, also the truncates.
    let ctes: SQL = """
      counted as materialized (
        select v.code, min(v.id) as first, max(v.id) as last, count(*) as changes,
               grouping(v.code) = 1 as is_sum \(sql: changes)
         group by grouping sets ((v.code), ())
        having grouping(v.code) = 1 or v.code is not null
         order by grouping(v.code) desc, v.code collate "C"
         limit \(Int64(limit) + 2)
      ), touched as materialized (
        select c.code, c.first, c.last from counted c where not c.is_sum
      )
      """
    let isWhole: SQL = """
      (select case when c.changes = b.changes then true else quake.history_is_whole(b.low, b.high) end
         from counted c cross join bounds b where c.is_sum)
      """
    return (ctes, isWhole)
  }

  /// The newest version of the event of a page, alias `p`, up to a transaction.
  ///
  /// The versions of a code are numbered in the order of their transactions. So if the event has changes between the
  /// points, the index finds the version by a number, and no transaction is read.
  ///
  /// - Parameter version: The greatest number that the version may have; null: the transactions tell.
  private static func newest(_ version: SQL, upTo number: SQL) -> SQL {
    """
    select * from quake.quake_version v
     where v.code = p.code and v.id <= coalesce(\(sql: version), 9223372036854775807)
       and (p.last is not null
            or (select t.token from quake.change_transaction t where t.transaction_id = v.transaction_id) <= \(sql: number))
     order by v.id desc limit 1
    """
  }
}
