internal import Postgres
internal import QuakeModel

/// The SQL of an import, made from the column list for the columns that a source can fill.
struct ImportStatements {
  let copy: SQL
  let merge: SQL
  let countStale: SQL
  let firstConflict: SQL

  static let createStaging = SQL(
    trusted: """
      create temporary table if not exists quake_staging (
        record bigint not null,
        \(QuakeColumn.feed.map { "\($0.name) \(sqlType(of: $0))" }.joined(separator: ", ")),
        reject_place text, reject_reason text, reject_raw text
      ) on commit delete rows
      """)

  /// Of the records of one code the last counts. The join is there so that a feed without any, which
  /// is the rule, costs no more than the grouping.
  static let removeDuplicates: SQL = """
    delete from pg_temp.quake_staging s
     using (select code, max(record) as last from pg_temp.quake_staging
             where reject_reason is null group by code having count(*) > 1) d
     where s.code = d.code and s.record < d.last
    """

  /// - Parameter columns: What the source can fill; `code` is among them.
  init(columns: [QuakeColumn], policy: MergePolicy) {
    let all = columns.map(\.name)
    let rest = columns.filter { $0 != .code }.map(\.name)
    func list(_ names: [String], _ prefix: String = "") -> String {
      names.map { prefix + $0 }.joined(separator: ", ")
    }
    copy = SQL(
      trusted: """
        copy pg_temp.quake_staging (record, \(list(all)), reject_place, reject_reason, reject_raw)
        from stdin (format binary)
        """)
    let differs = "(\(list(rest, "o."))) is distinct from (\(list(rest, "s.")))"
    let fresh =
      policy == .always
      ? "true" : "(o.as_of is null or $1::timestamptz is null or o.as_of <= $1::timestamptz)"

    // In the order of the codes, so that two imports of the same events wait for each other instead of
    // ending in a deadlock.
    //
    // Two guards against writing what is unchanged. The join: "on conflict do update ... where" alone
    // locks each unchanged row, which writes it (96 MB of WAL for 200,000 rows; with the join none).
    // The condition on the conflict: for a writer that came between the join and the insert.
    let taken: String
    let onConflict: String
    switch policy {
    case .store, .error:
      taken = "o.code is null"
      onConflict = "do nothing"
    case .incoming, .always:
      taken = "o.code is null or (\(differs) and \(fresh))"
      onConflict = """
        do update set \(rest.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")), as_of = excluded.as_of
          where (\(list(rest, "q."))) is distinct from (\(list(rest, "excluded.")))
            \(policy == .always ? "" : "and (q.as_of is null or excluded.as_of is null or q.as_of <= excluded.as_of)")
        """
    }
    // A row just inserted has no xmax; one that was updated still carries the lock of its conflict.
    let aliases =
      columns.contains(.ids)
      ? """
      , alias as (
        insert into quake.quake_alias as a (id, code)
        select distinct on (i.id) i.id, w.code
          from written w cross join lateral unnest(string_to_array(btrim(w.ids, ','), ',')) i (id)
         where w.ids <> ',' || w.code || ',' and i.id <> w.code and i.id <> ''
         order by i.id, w.code
        on conflict (id) do update set code = excluded.code where a.code <> excluded.code
      )
      """ : ""
    merge = SQL(
      trusted: """
        with written as (
          insert into quake.quake as q (\(list(all)), as_of)
          select \(list(all, "s.")), $1::timestamptz
            from pg_temp.quake_staging s left join quake.quake o on o.code = s.code
           where s.reject_reason is null and (\(taken))
           order by s.code
          on conflict (code) \(onConflict)
          returning q.xmax = 0 as inserted, q.code, q.ids
        )\(aliases)
        select count(*) filter (where inserted), count(*) filter (where not inserted) from written
        """)
    let conflicting = """
        from pg_temp.quake_staging s join quake.quake o on o.code = s.code
       where s.reject_reason is null and \(differs)
      """
    // After the merge, what still differs is what was held back for being older than the row.
    countStale = SQL(
      trusted: """
        select case when exists (select from quake.import where generated > $1::timestamptz)
                    then (select count(*) \(conflicting) and o.as_of > $1::timestamptz) else 0 end
        """)
    firstConflict = SQL(trusted: "select min(s.code), count(*) \(conflicting)")
  }

  private static func sqlType(of column: QuakeColumn) -> String {
    switch column.kind {
    case .text: "text"
    case .float8: "double precision"
    case .int4: "integer"
    case .int2: "smallint"
    case .timestamp: "timestamptz"
    case .bool: "boolean"
    }
  }
}
