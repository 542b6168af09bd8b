internal import Postgres
internal import QuakeModel

/// Keeps deleted events deleted although the import has them.
///
/// A record is one of a deleted event if its code has a tombstone, or if one of its ids, or an alias of one,
/// has a tombstone and none of them is the id of a stored event. Its ids become aliases of the deleted event,
/// so that a later record that has only some of them is recognised as well. An alias ends when a newer snapshot has
/// both events, the deleted one without the id.
struct DeletedEvents {
  let connection: Connection

  /// How often the merge begins anew because events were deleted meanwhile. Each time takes a deletion that
  /// commits between two statements.
  private static let mostAttempts = 20

  /// Removes the records of deleted events from the staged ones, and merges the others.
  ///
  /// - Parameters:
  ///   - asOf: When the snapshot was generated.
  ///   - merge: Merges the staged records. The trigger on inserts refuses an event that was deleted after
  ///     the records were removed; then all of it begins anew.
  func mergeOthers<Counts>(
    asOf: SQL, _ merge: () throws(PostgresError) -> Counts
  ) throws(PostgresError) -> Counts {
    var attempts = 0
    while true {
      attempts += 1
      try connection.execute("savepoint quake_merge")
      do throws(PostgresError) {
        if try connection.row("select exists (select from quake.tombstone)", as: Bool.self) {
          try connection.execute(Self.removeStaged(asOf))
        }
        let result = try merge()
        try connection.execute("release savepoint quake_merge")
        return result
      } catch {
        guard error.sqlState == StoreState.deletedEvent, attempts < Self.mostAttempts else {
          throw error
        }
        try connection.execute("rollback to savepoint quake_merge")
      }
    }
  }

  /// Whether the tombstone `d` keeps out a record of that origin time.
  private static func keepsOut(_ time: SQL) -> SQL {
    "(d.older_than is null or \(sql: time) is null or \(sql: time) <= now() - d.older_than)"
  }

  private static func removeStaged(_ asOf: SQL) -> SQL {
    """
    with fresh as materialized (
      select s.code, s.ids, s.time from pg_temp.quake_staging s
       where s.reject_reason is null
         and not exists (select from quake.quake q where q.code = s.code)
    ), named (code, id, time) as materialized (
      select f.code, f.code, f.time from fresh f
       union
      select f.code, i.id, f.time
        from fresh f
       cross join lateral unnest(string_to_array(btrim(f.ids, ','), ',')) i (id)
       where i.id <> ''
    ), linked (code, target, time) as materialized (
      select n.code, n.id, n.time from named n
       union
      select n.code, a.code, n.time from named n join quake.quake_alias a on a.id = n.id
       -- Unless the snapshot is newer, and has the other event without this id: then they are separate events.
       where not exists (select from pg_temp.quake_staging o
                          where o.code = coalesce(a.named_by, a.code) and o.reject_reason is null
                            and strpos(',' || o.ids || ',', ',' || a.id || ',') = 0
                            and coalesce(a.as_of, \(sql: asOf)) <= \(sql: asOf))
    ), live (code) as materialized (
      select distinct l.code from linked l join quake.quake q on q.code = l.target
    ), dead (code, target) as materialized (
      select l.code, min(l.target)
        from linked l
        join quake.tombstone d on d.code = l.target
        left join quake.tombstone o on o.code = l.code
        left join live v on v.code = l.code
       where \(sql: keepsOut("l.time")) and (o.code is not null or v.code is null)
       group by l.code
    ), removed as (
      delete from pg_temp.quake_staging s using dead d
       where s.code = d.code and s.reject_reason is null
    )
    insert into quake.quake_alias (id, code, as_of)
    select distinct on (n.id) n.id, d.target, \(sql: asOf)
      from dead d join named n on n.code = d.code
     where n.id <> d.target
       and not exists (select from quake.quake q where q.code = n.id)
       and not exists (select from quake.tombstone o where o.code = n.id)
     order by n.id, d.target
    on conflict (id) do nothing
    """
  }
}
