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
    do {
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
    } catch let error as PostgresError {
      throw StoreError(token: error) ?? error
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
    return """
      with bounds as materialized (
        -- An invalid token is an error, and so are transactions that are missing between the points.
        select n.low, n.high, quake.history_is_whole(n.low, n.high) as is_whole
          from (select quake.token_number(\(low)) as low, quake.token_number(\(high)) as high) n
      ), truncates as materialized (
        select coalesce(max(v.id) filter (where t.token <= b.low), 0) as before_low,
               coalesce(max(v.id), 0) as before_high,
               coalesce(bool_or(t.token > b.low), false) as between_them
          from bounds b
         cross join quake.quake_version v
          join quake.change_transaction t on t.transaction_id = v.transaction_id
         where v.op = 'truncate' and t.token <= b.high
      ), touched as materialized (
        select v.code, min(v.id) as first, max(v.id) as last
          from bounds b
          join quake.change_transaction t on b.is_whole and t.token > b.low and t.token <= b.high
         cross join lateral (
            select v.code, v.id from quake.quake_version v
             where v.transaction_id = t.transaction_id offset 0) v
         where v.code is not null and (\(code)::text is null or v.code collate "C" > \(code))
         group by v.code
         order by v.code collate "C"
         limit \(Int64(limit) + 1)
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
         cross join truncates e
          left join lateral (
            select * from quake.quake_version v where v.code = p.code and v.id = p.last limit 1) n on true
          left join lateral (
            select * from quake.quake_version v
             where v.code = p.code and (p.first is null or v.id < p.first)
             order by v.id desc limit 1) o on true
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
}
