internal import Postgres
internal import QuakeModel

/// The SQL that keeps one row for each earthquake although its preferred id changes, and takes events
/// back that a snapshot has again: before the merge, which makes a row its own; the rest after it, in
/// the same transaction.
///
/// $1 is when the snapshot was generated; null: nobody knows. What somebody has set by hand stays: a
/// row that gave way by itself has an alias that says so, and one that was withdrawn by itself is of
/// the very snapshot that withdrew it.
enum IdentityStatements {
  /// An event that a snapshot has as one of its own stands for itself: superseded before, it was split
  /// off again; withdrawn, it came back. A snapshot of unknown age cannot tell.
  static let restore: SQL = """
    with restored as (
      update quake.quake q
         set superseded_by = null, withdrawn_at = null, as_of = $1::timestamptz
        from pg_temp.quake_staging s
       where s.reject_reason is null and s.code = q.code
         and (q.superseded_by is not null or q.withdrawn_at is not null)
         and (q.withdrawn_at is null or q.withdrawn_at = q.as_of)
         and (q.superseded_by is null
              or exists (select from quake.quake_alias a where a.id = q.code and a.code = q.superseded_by))
         and q.as_of <= $1::timestamptz
      returning q.code
    ), own as (
      delete from quake.quake_alias a using restored r where a.id = r.code
    )
    select count(*) from restored
    """

  /// An event whose id another one of the snapshot claims, and which the snapshot does not have itself,
  /// gives way to that one; so does what had given way to it. Of two that claim it the first counts.
  static let supersede: SQL = """
    with claimed as (
      select distinct on (i.id) i.id, s.code as successor
        from pg_temp.quake_staging s
       cross join lateral unnest(string_to_array(btrim(s.ids, ','), ',')) i (id)
       where s.reject_reason is null and s.ids <> ',' || s.code || ',' and i.id <> s.code
         and i.id <> ''
       order by i.id, s.code
    ), superseded as (
      update quake.quake q
         set superseded_by = c.successor, as_of = coalesce($1::timestamptz, q.as_of)
        from claimed c
       where (q.code = c.id or q.superseded_by = c.id) and q.code <> c.successor
         and q.superseded_by is distinct from c.successor
         and (q.superseded_by is null
              or exists (select from quake.quake_alias a where a.id = q.code and a.code = q.superseded_by))
         and (q.as_of is null or $1::timestamptz is null or q.as_of <= $1::timestamptz)
         and not exists (select from pg_temp.quake_staging o
                          where o.code = q.code and o.reject_reason is null)
         -- What the snapshot says of the successor must be what holds.
         and exists (select from quake.quake y
                      where y.code = c.successor and y.superseded_by is null
                        and (y.as_of is null or $1::timestamptz is null or y.as_of <= $1::timestamptz))
      returning q.code
    )
    select count(*) from superseded
    """

  /// An event that comes late, when a newer snapshot has said already that another one stands for it.
  static let supersedeLate: SQL = """
    with superseded as (
      update quake.quake q
         set superseded_by = y.code, as_of = coalesce(y.as_of, q.as_of)
        from pg_temp.quake_staging s
        join quake.quake_alias a on a.id = s.code
        join quake.quake y on y.code = a.code
       where s.reject_reason is null and q.code = s.code and q.superseded_by is null
         and q.code <> y.code and y.superseded_by is null
         and ($1::timestamptz is null or y.as_of > $1::timestamptz)
         and not exists (select from pg_temp.quake_staging o
                          where o.code = y.code and o.reject_reason is null)
      returning q.code
    )
    select count(*) from superseded
    """

  /// After an event has given way: its own id, and those that led to it, lead to its successor.
  static let settleAliases: [SQL] = [
    """
    delete from quake.quake_alias a using quake.quake q
     where q.code = a.code and q.superseded_by = a.id
    """,
    """
    update quake.quake_alias a set code = q.superseded_by
      from quake.quake q where q.code = a.code and q.superseded_by is not null
    """,
    """
    insert into quake.quake_alias as a (id, code)
    select q.code, q.superseded_by from quake.quake q
     where q.superseded_by is not null
       and exists (select from pg_temp.quake_staging s where s.code = q.superseded_by)
    on conflict (id) do update set code = excluded.code where a.code <> excluded.code
    """,
  ]
}
