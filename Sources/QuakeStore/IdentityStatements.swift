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
    -- Few are, of all that there are: they are looked up first.
    with past as materialized (
      select code from quake.quake where superseded_by is not null
       union
      select code from quake.quake where withdrawn_at is not null
    ), back as materialized (
      select p.code from past p join pg_temp.quake_staging s on s.code = p.code
       where s.reject_reason is null
    ), restored as (
      update quake.quake q
         set superseded_by = null, withdrawn_at = null, as_of = $1::timestamptz
        from back b
       where b.code = q.code
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

  /// The ids that events of the snapshot claim without the snapshot having them itself, and by which
  /// event; of two that claim one the first counts. As two arrays: the planner knows how long these are,
  /// and looks few events up through their index.
  static let claimed: SQL = """
    select array_agg(c.id), array_agg(c.successor)
      from (select distinct on (i.id) i.id, s.code as successor
              from pg_temp.quake_staging s
             cross join lateral unnest(string_to_array(btrim(s.ids, ','), ',')) i (id)
             where s.reject_reason is null and s.ids <> ',' || s.code || ',' and i.id <> s.code
               and i.id <> ''
             order by i.id, s.code) c
     where not exists (select from pg_temp.quake_staging o
                        where o.code = c.id and o.reject_reason is null)
    """

  /// Claimed events give way, and so does what had given way to them. $2, $3: the arrays.
  static let supersede: SQL = """
    with claimed as (
      select * from unnest($2::text[], $3::text[]) c (id, successor)
    ), target as (
      select c.id as code, c.successor from claimed c
       union
      select q.code, c.successor from claimed c join quake.quake q on q.superseded_by = c.id
    ), superseded as (
      update quake.quake q
         set superseded_by = t.successor, as_of = coalesce($1::timestamptz, q.as_of)
        from target t
       where q.code = t.code and q.code <> t.successor
         and q.superseded_by is distinct from t.successor
         and (q.superseded_by is null
              or exists (select from quake.quake_alias a where a.id = q.code and a.code = q.superseded_by))
         and (q.as_of is null or $1::timestamptz is null or q.as_of <= $1::timestamptz)
         and not exists (select from pg_temp.quake_staging o
                          where o.code = q.code and o.reject_reason is null)
         -- What the snapshot says of the successor must be what holds.
         and exists (select from quake.quake y
                      where y.code = t.successor and y.superseded_by is null
                        and (y.as_of is null or $1::timestamptz is null or y.as_of <= $1::timestamptz))
      returning q.code
    )
    select count(*) from superseded
    """

  /// The events of the snapshot that are known as other ids of events that it does not have, as two
  /// arrays.
  static let known: SQL = """
    select array_agg(a.id), array_agg(a.code)
      from quake.quake_alias a
      join pg_temp.quake_staging s on s.code = a.id
     where s.reject_reason is null
       and not exists (select from pg_temp.quake_staging o
                        where o.code = a.code and o.reject_reason is null)
    """

  /// An event that comes late, when a newer snapshot has said already that another one stands for it.
  /// $2, $3: the arrays.
  static let supersedeLate: SQL = """
    with superseded as (
      update quake.quake q
         set superseded_by = y.code, as_of = coalesce(y.as_of, q.as_of)
        from unnest($2::text[], $3::text[]) a (id, code)
        join quake.quake y on y.code = a.code
       where q.code = a.id and q.superseded_by is null
         and q.code <> y.code and y.superseded_by is null
         and ($1::timestamptz is null or y.as_of > $1::timestamptz)
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
