internal import Postgres
internal import QuakeModel

/// The SQL that keeps one row for each earthquake although its preferred id changes. Run after the merge,
/// in its transaction.
///
/// A snapshot says of each id in it whether that is an event of its own or belongs to another one; of
/// each id the newest word counts. That of an id which is not its own event's is in `quake.quake_alias`.
/// From these words follows which row stands for an earthquake, in whatever order they came: what gave
/// way follows where its successor goes.
///
/// $1 is when the snapshot was generated; null: nobody knows. What somebody has set by hand stays: a row
/// that gave way by itself has an alias that leads to the same successor.
struct IdentityStatements {
  /// Settles what the arrays say that `claimed` ($2, $3) and `own` ($4) return, and counts the rows that
  /// gave way and those that came back.
  let settle: SQL

  /// The ids that events of the snapshot claim without the snapshot having them itself, and by which
  /// event, where that is news; of two that claim one the first counts. As two arrays: the planner knows
  /// how long these are, and looks few events up through their index.
  static let claimed: SQL = """
    select array_agg(c.id), array_agg(c.successor)
      from (select distinct on (i.id) i.id, s.code as successor
              from pg_temp.quake_staging s
             cross join lateral unnest(string_to_array(btrim(s.ids, ','), ',')) i (id)
             where s.reject_reason is null and s.ids <> ',' || s.code || ',' and i.id <> s.code
               and i.id <> ''
             order by i.id, s.code) c
      left join quake.quake_alias a on a.id = c.id
      left join quake.quake q on q.code = c.id
     where (a.id is null or coalesce(a.named_by, a.code) <> c.successor
            or q.code is not null and q.superseded_by is null)
       and not exists (select from pg_temp.quake_staging o
                        where o.code = c.id and o.reject_reason is null)
    """

  /// The same of ids, $1, that are known to be claimed by the events $2, and not to be staged.
  static let claimedAmong: SQL = """
    select array_agg(c.id), array_agg(c.successor)
      from (select distinct on (i.id) i.id, i.successor
              from unnest($1::text[], $2::text[]) i (id, successor)
             order by i.id, i.successor) c
      left join quake.quake_alias a on a.id = c.id
      left join quake.quake q on q.code = c.id
     where a.id is null or coalesce(a.named_by, a.code) <> c.successor
        or q.code is not null and q.superseded_by is null
    """

  /// The events that the snapshot has as events of their own, and that are known to belong to another
  /// one: those that have given way to it, and $1, which were not there before.
  static let own: SQL = """
    select array_agg(a.id)
      from (select q.code from quake.quake q where q.superseded_by is not null
             union all
            select * from unnest($1::text[])) c (code)
      join pg_temp.quake_staging s on s.code = c.code
      join quake.quake_alias a on a.id = c.code
     where s.reject_reason is null
    """

  /// The same of events that were copied straight into the table, in this transaction.
  static let ownCopied: SQL = """
    select array_agg(a.id)
      from quake.quake_alias a
      join quake.quake q on q.code = a.id
     where q.superseded_by is null and q.as_of = $1::timestamptz
    """

  /// - Parameter policy: Says whether the snapshot counts however old it is, or whether what is stored
  ///   stays, so that only ids without a row can be given to an event.
  /// - Parameter isLate: Whether a newer snapshot of some feed has been applied already.
  init(policy: MergePolicy, isLate: Bool) {
    let isNews =
      policy == .always
      ? "true"
      : """
      \(policy == .incoming ? "" : "q.code is null and a.id is null and")
             -- Nothing newer is known of it: neither that it belongs to another event, ...
      (a.as_of is null or $1::timestamptz is null or a.as_of <= $1::timestamptz)
             and (y.as_of is null or $1::timestamptz is null or y.as_of <= $1::timestamptz)
             -- ... nor that it is one of its own.
             and (h.successor is null or q.superseded_by is not null or q.as_of is null
                  or $1::timestamptz is null or q.as_of <= $1::timestamptz)
             and (h.successor is null
                  or not exists (select from quake.quake_alias n
                                  where coalesce(n.named_by, n.code) = h.id and n.as_of > $1::timestamptz))
             \(isLate ? Self.isUnconfirmed : "")
             -- What nobody knows the age of must say something of the other event, too: an old file
             -- would show the earthquake twice.
             and (h.successor is not null or $1::timestamptz is not null
                  or exists (select from heard c where c.successor = h.id)
                  or exists (select from pg_temp.quake_staging s
                              where s.code = a.code and s.reject_reason is null))
      """
    settle = SQL(
      trusted: """
        with recursive heard (id, successor) as materialized (
          select * from unnest($2::text[], $3::text[])
           union all
          select id, null from unnest($4::text[]) o (id)
        ), said as materialized (
          select h.id, h.successor
            from heard h
            left join quake.quake q on q.code = h.id
            left join quake.quake_alias a on a.id = h.id
            -- The event that it belongs to, as far as is known, if that names it still.
            left join quake.quake y on y.code = coalesce(a.named_by, a.code)
                 and y.superseded_by is null and \(Self.names("y", "h.id"))
           where \(isNews)
        ), touched (id) as (
          select id from said
           union
          select id from unnest($4::text[]) o (id)
           union
          select a.id from touched t join quake.quake_alias a on coalesce(a.named_by, a.code) = t.id
        ), link as materialized (
          select t.id, case when s.id is null then coalesce(a.named_by, a.code) else s.successor end as next,
                 s.id is not null as is_new
            from touched t left join said s on s.id = t.id left join quake.quake_alias a on a.id = t.id
        ), way (id, place, seen, is_circle) as (
          select id, next, array[id], next = id from link where next is not null
           union all
          select w.id, n.next, w.seen || w.place, n.next = any (w.seen || w.place)
            from way w
            left join link l on l.id = w.place
            left join quake.quake_alias a on a.id = w.place
           cross join lateral (
             select case when l.id is null then coalesce(a.named_by, a.code) else l.next end) n (next)
           where n.next is not null and not w.is_circle
        ), settled as materialized (
          -- Where its way ends. Words of unknown age can lead in a circle: these do not count.
          select w.id, w.place as code, nullif(l.next, w.place) as named_by, l.is_new
            from (select distinct on (id) id, place, is_circle from way
                   order by id, cardinality(seen) desc) w
            join link l on l.id = w.id
           where not w.is_circle
        ), noted as (
          insert into quake.quake_alias as a (id, code, named_by, as_of)
          select id, code, named_by, case when is_new then $1::timestamptz end
            from settled order by id
          on conflict (id) do update
             set code = excluded.code, named_by = excluded.named_by,
                 as_of = case when coalesce(a.named_by, a.code) is distinct from coalesce(excluded.named_by, excluded.code)
                              then excluded.as_of else a.as_of end
           where (a.code, a.named_by) is distinct from (excluded.code, excluded.named_by)
        ), superseded as (
          update quake.quake q set superseded_by = s.code
            from settled s
           where q.code = s.id and q.superseded_by is distinct from s.code
             and (q.superseded_by is null
                  or exists (select from quake.quake_alias a where a.id = q.code and a.code = q.superseded_by))
          returning q.code
        ), freed as (
          delete from quake.quake_alias a using said s where a.id = s.id and s.successor is null
        ), restored as (
          update quake.quake q
             set superseded_by = null, as_of = coalesce(greatest(q.as_of, $1::timestamptz), q.as_of)
            from said s
           where q.code = s.id and s.successor is null
             and exists (select from quake.quake_alias a where a.id = q.code and a.code = q.superseded_by)
          returning q.code
        )
        select (select count(*) from superseded), (select count(*) from restored)
        """)
  }

  /// Whether an event's ids name another one.
  private static func names(_ event: String, _ id: String) -> String {
    "strpos(',' || \(event).ids || ',', ',' || \(id) || ',') > 0"
  }

  /// Whether no newer snapshot has confirmed what is known.
  private static let isUnconfirmed = """
    and (y.code is null or not exists (\(ImportStatements.confirmation(of: "y"))))
           and (h.successor is null or q.superseded_by is not null
                or not exists (\(ImportStatements.confirmation(of: "q"))))
    """

  /// An event that was withdrawn and that the snapshot has is there again. A snapshot of unknown age
  /// cannot tell.
  static let restore: SQL = """
    with back as materialized (
      select q.code from quake.quake q join pg_temp.quake_staging s on s.code = q.code
       where q.withdrawn_at is not null and s.reject_reason is null
         and q.withdrawn_at <= $1::timestamptz
    ), restored as (
      update quake.quake q set withdrawn_at = null
        from back b
       where b.code = q.code
         and exists (select from quake.absence a where a.code = q.code and a.withdrawn_at = q.withdrawn_at)
      returning q.code
    )
    select count(*) from restored
    """
}
