internal import Postgres
internal import QuakeModel

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
