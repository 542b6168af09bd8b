internal import Postgres

/// The part of a statement that deletes the events of the list `chosen (code)` together with the rows that they
/// superseded, and leaves tombstones. Its last list, `gone (code)`, has the deleted codes.
enum DeleteStatement {
  /// - Parameters:
  ///   - reason: The reason of the tombstones.
  ///   - olderThan: The age of events that expire, as the placeholder of a parameter in seconds; nil: none.
  ///   - edit: The number of the edit, as the placeholder of a parameter.
  static func text(reason: StaticString, olderThan: String?, edit: String) -> String {
    """
    superseded as materialized (
      -- Rows of the same earthquakes under earlier ids. Without the others, they would lead nowhere.
      select s.code from quake.quake s join chosen c on c.code = s.superseded_by
       where not exists (select from chosen o where o.code = s.code)
         -- The events of other sources are rows of their own: one of them is shown instead.
         and not exists (select from quake.association n where n.code = s.code and n.preferred = c.code)
       order by s.code collate "C" for update of s
    ), gone as (
      delete from quake.quake q
       using (select code from chosen union all select code from superseded) d
       where q.code = d.code
      returning q.code
    ), noted as (
      insert into quake.tombstone as t (code, reason, older_than, author, context, edit_id)
      select g.code, '\(reason)', \(olderThan.map { "make_interval(secs => \($0))" } ?? "null"),
             left(current_setting('quake.author'), 200), left(current_setting('quake.context'), 2000), \(edit)
        from gone g
      on conflict (code) do update
         set reason = excluded.reason, older_than = excluded.older_than, deleted_at = excluded.deleted_at,
             author = excluded.author, context = excluded.context, edit_id = excluded.edit_id
    )
    """
  }
}
