internal import Postgres
internal import QuakeAssociation
internal import QuakeModel

/// The SQL that keeps one preferred row for each earthquake although its preferred id changes. Run after the
/// merge, in its transaction.
///
/// A snapshot states of each id in it whether the id is an event of its own or belongs to another event.
/// The newest snapshot that mentions an id decides what it identifies; `quake.quake_alias` has the ids that
/// belong to another event. Together these statements determine the preferred row of an earthquake, in any
/// order of the snapshots: a superseded row follows its successor, and the successor of that.
///
/// $1 is when the snapshot was generated; null: unknown. A value of `superseded_by` that a person has set
/// stays: a row that an import superseded has an alias with the same successor.
struct IdentityStatements {
  /// Resolves the arrays that `claimed` ($2, $3) and `own` ($4) return, and counts the rows that were
  /// superseded and those that were restored.
  let resolve: SQL

  /// The ids that events of the snapshot claim and that are no events of the snapshot, with the events that
  /// claim them, where the claim is new. If two events claim an id, the first gets it. The result is two
  /// arrays: the planner knows their length, and looks few events up through the index.
  static let claimed = SQL(
    trusted: """
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
              or q.code is not null and \(AssociationStatements.isOwn("q")))
         and not exists (select from pg_temp.quake_staging o
                          where o.code = c.id and o.reject_reason is null)
      """)

  /// The same for ids, $1, that the events $2 claim and that are known not to be staged.
  static let claimedAmong = SQL(
    trusted: """
      select array_agg(c.id), array_agg(c.successor)
        from (select distinct on (i.id) i.id, i.successor
                from unnest($1::text[], $2::text[]) i (id, successor)
               order by i.id, i.successor) c
        left join quake.quake_alias a on a.id = c.id
        left join quake.quake q on q.code = c.id
       where (a.id is null or coalesce(a.named_by, a.code) <> c.successor
              or q.code is not null and \(AssociationStatements.isOwn("q")))
         -- The claim of an event that was deleted, and therefore not merged, does not count.
         and exists (select from quake.quake o where o.code = c.successor)
      """)

  /// The events of the snapshot that are known as ids of another event: those that were superseded by it,
  /// and $1, which are new.
  static let own: SQL = """
    select array_agg(a.id)
      from (select q.code from quake.quake q where q.superseded_by is not null
             union all
            select * from unnest($1::text[])) c (code)
      join pg_temp.quake_staging s on s.code = c.code
      join quake.quake_alias a on a.id = c.code
     where s.reject_reason is null
    """

  /// The same for events that were copied straight into the table in this transaction.
  static let ownCopied: SQL = """
    select array_agg(a.id)
      from quake.quake_alias a
      join quake.quake q on q.code = a.id
     where q.superseded_by is null and q.as_of = $1::timestamptz
    """

  /// - Parameter policy: Whether the snapshot decides however old it is; or whether stored rows stay, so
  ///   that only ids without a row can become aliases.
  /// - Parameter isLate: Whether a newer snapshot of some feed has been applied already.
  init(policy: MergePolicy, isLate: Bool) {
    let isNews =
      policy == .always
      ? "true"
      : """
      \(policy == .incoming ? "" : "q.code is null and a.id is null and")
             -- No newer snapshot states that it belongs to another event, ...
      (a.as_of is null or $1::timestamptz is null or a.as_of <= $1::timestamptz)
             and (y.as_of is null or $1::timestamptz is null or y.as_of <= $1::timestamptz)
             -- ... nor that it is an event of its own.
             and (h.successor is null or not \(AssociationStatements.isOwn("q")) or q.as_of is null
                  or $1::timestamptz is null or q.as_of <= $1::timestamptz)
             and (h.successor is null
                  or not exists (select from quake.quake_alias n
                                  where coalesce(n.named_by, n.code) = h.id and n.as_of > $1::timestamptz))
             \(isLate ? Self.isUnconfirmed : "")
             -- A snapshot of unknown age must mention the other event, too: otherwise an old file would
             -- lead to two preferred rows of one earthquake.
             and (h.successor is not null or $1::timestamptz is not null
                  or exists (select from stated c where c.successor = h.id)
                  or exists (select from pg_temp.quake_staging s
                              where s.code = a.code and s.reject_reason is null))
      """
    resolve = SQL(
      trusted: """
        with recursive stated (id, successor) as materialized (
          select * from unnest($2::text[], $3::text[])
           union all
          select id, null from unnest($4::text[]) o (id)
        ), accepted as materialized (
          select h.id, h.successor
            from stated h
            left join quake.quake q on q.code = h.id
            left join quake.quake_alias a on a.id = h.id
            -- The event that it is known to belong to, if that event's ids still have it.
            left join quake.quake y on y.code = coalesce(a.named_by, a.code)
                 and \(AssociationStatements.isOwn("y")) and \(Self.names("y", "h.id"))
           where \(isNews)
        ), touched (id) as (
          select id from accepted
           union
          select id from unnest($4::text[]) o (id)
           union
          select a.id from touched t join quake.quake_alias a on coalesce(a.named_by, a.code) = t.id
        ), link as materialized (
          select t.id, case when s.id is null then coalesce(a.named_by, a.code) else s.successor end as next,
                 s.id is not null as is_new
            from touched t left join accepted s on s.id = t.id left join quake.quake_alias a on a.id = t.id
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
        ), resolved as materialized (
          -- The last successor. Snapshots of unknown age can lead to a circle, which is ignored.
          select w.id, w.place as code, nullif(l.next, w.place) as named_by, l.is_new
            from (select distinct on (id) id, place, is_circle from way
                   order by id, cardinality(seen) desc) w
            join link l on l.id = w.id
           where not w.is_circle
        ), noted as (
          insert into quake.quake_alias as a (id, code, named_by, as_of)
          select id, code, named_by, case when is_new then $1::timestamptz end
            from resolved order by id
          on conflict (id) do update
             set code = excluded.code, named_by = excluded.named_by,
                 as_of = case when coalesce(a.named_by, a.code) is distinct from coalesce(excluded.named_by, excluded.code)
                              then excluded.as_of else a.as_of end
           where (a.code, a.named_by) is distinct from (excluded.code, excluded.named_by)
        ), superseded as (
          update quake.quake q set superseded_by = s.code
            from resolved s
           where q.code = s.id and q.superseded_by is distinct from s.code
             and (\(AssociationStatements.isOwn("q"))
                  or exists (select from quake.quake_alias a where a.id = q.code and a.code = q.superseded_by))
          returning q.code
        ), freed as (
          delete from quake.quake_alias a using accepted s where a.id = s.id and s.successor is null
        ), restored as (
          update quake.quake q
             set superseded_by = null, as_of = coalesce(greatest(q.as_of, $1::timestamptz), q.as_of)
            from accepted s
           where q.code = s.id and s.successor is null
             and exists (select from quake.quake_alias a where a.id = q.code and a.code = q.superseded_by)
          returning q.code
        )
        select (select count(*) from superseded), (select count(*) from restored)
        """)
  }

  /// Whether the ids of `event` contain `id`.
  private static func names(_ event: String, _ id: String) -> String {
    "strpos(',' || \(event).ids || ',', ',' || \(id) || ',') > 0"
  }

  /// Whether no newer snapshot has confirmed the stored row.
  private static let isUnconfirmed = """
    and (y.code is null or not exists (\(ImportStatements.confirmation(of: "y"))))
           and (h.successor is null or not \(AssociationStatements.isOwn("q"))
                or not exists (\(ImportStatements.confirmation(of: "q"))))
    """
}
