internal import Postgres
internal import QuakeModel
internal import QuakeQuery

/// The SQL that keeps one preferred row for each earthquake although its preferred id changes. Run after the
/// merge, in its transaction.
///
/// A snapshot states of each id in it whether the id is an event of its own or belongs to another event.
/// The newest snapshot that mentions an id decides what it identifies; `quake.quake_alias` has the ids that
/// belong to another event. Together these statements determine the preferred row of an earthquake, in any
/// order of the snapshots: a superseded row follows its successor, and the successor of that.
///
/// A value of `superseded_by` that a person has set
/// stays: a row that an import superseded has an alias with the same successor.
struct IdentityStatements {
  /// Resolves the arrays that `claimed` and `own` return, and counts the rows that were superseded and those
  /// that were restored. It also returns the arrays for `mark`.
  let resolve: SQL

  /// The ids that events of the snapshot claim and that are no events of the snapshot, with the events that
  /// claim them, where the claim is new. If two events claim an id, the first gets it. An event claims no id
  /// of an event of another source. The result is two arrays: the planner knows their length, and looks few
  /// events up through the index.
  static func claimed(_ columns: [EventColumn]) -> SQL {
    """
    select array_agg(c.id), array_agg(c.successor)
      from (select distinct on (i.id) i.id, s.code as successor, \(sql: ImportStatements.source(columns)("s")) as source
              from pg_temp.quake_staging s
             cross join lateral unnest(string_to_array(btrim(s.ids, ','), ',')) i (id)
             where s.reject_reason is null and s.ids <> ',' || s.code || ',' and i.id <> s.code
               and i.id <> ''
             order by i.id, s.code) c
      left join quake.quake_alias a on a.id = c.id
      left join quake.quake q on q.code = c.id
     where (a.id is null or coalesce(a.named_by, a.code) <> c.successor
            or q.code is not null and \(sql: AssociationStatements.isOwn("q")))
       and not exists (select from pg_temp.quake_staging o
                        where o.code = c.id and o.reject_reason is null)
       and \(sql: isOfSource("c.source"))
    """
  }

  /// Whether the id of the rows `a` and `q`, of an alias and of an event, belongs to no event of another
  /// source.
  private static func isOfSource(_ source: SQL) -> SQL {
    """
    (q.code is null or q.source = \(sql: source))
         and not exists (select from quake.quake y
                          where y.code = coalesce(a.named_by, a.code) and y.source <> \(sql: source))
    """
  }

  /// The same for claims of ids that are known not to be staged.
  static func claimed(among claims: [IDClaim]) -> SQL {
    """
    select array_agg(c.id), array_agg(c.successor)
      from (select distinct on (i.id) i.id, i.successor
              from unnest(\(claims.map(\.id))::text[], \(claims.map(\.code))::text[]) i (id, successor)
             order by i.id, i.successor) c
      left join quake.quake_alias a on a.id = c.id
      left join quake.quake q on q.code = c.id
     where (a.id is null or coalesce(a.named_by, a.code) <> c.successor
            or q.code is not null and \(sql: AssociationStatements.isOwn("q")))
       -- The claim of an event that was deleted, and therefore not merged, does not count.
       and exists (select from quake.quake o where o.code = c.successor and \(sql: isOfSource("o.source")))
    """
  }

  /// The events of the snapshot that are known as ids of another event: those that were superseded by it,
  /// and those that are new.
  ///
  /// - Parameter new: Their codes, as the text of an array.
  static func own(new: String?) -> SQL {
    """
    select array_agg(a.id)
      from (select q.code from quake.quake q where q.superseded_by is not null
             union all
            select * from unnest(\(new)::text[])) c (code)
      join pg_temp.quake_staging s on s.code = c.code
      join quake.quake_alias a on a.id = c.code
     where s.reject_reason is null
    """
  }

  /// The same for events that were copied straight into the table in this transaction.
  static func ownCopied(asOf: SQL) -> SQL {
    """
    select array_agg(a.id)
      from quake.quake_alias a
      join quake.quake q on q.code = a.id
     where q.superseded_by is null and q.as_of = \(sql: asOf)
    """
  }

  /// The arrays are texts, as a statement returned them.
  ///
  /// - Parameters:
  ///   - ids: Claimed ids.
  ///   - successors: The events that claim them.
  ///   - own: The events of the snapshot that are known as ids of another event.
  ///   - policy: Whether the snapshot decides however old it is; or whether stored rows stay, so that only ids
  ///     without a row can become aliases.
  ///   - asOf: When the snapshot was generated; null: unknown.
  ///   - isLate: Whether a newer snapshot of some feed has been applied already.
  init(
    ids: String?, successors: String?, own: String?, policy: MergePolicy, asOf: SQL, isLate: Bool
  ) {
    let own: SQL = "\(own)::text[]"
    let isNewID: SQL = policy == .incoming ? "" : "q.code is null and a.id is null and"
    let isUnconfirmed: SQL = isLate ? Self.isUnconfirmed(since: asOf) : ""
    let isNews: SQL =
      policy == .always
      ? "true"
      : """
      \(sql: isNewID)
             -- No newer snapshot states that it belongs to another event, ...
      (a.as_of is null or \(sql: asOf) is null or a.as_of <= \(sql: asOf))
             and (y.as_of is null or \(sql: asOf) is null or y.as_of <= \(sql: asOf))
             -- ... nor that it is an event of its own.
             and (h.successor is null or not \(sql: AssociationStatements.isOwn("q")) or q.as_of is null
                  or \(sql: asOf) is null or q.as_of <= \(sql: asOf))
             and (h.successor is null
                  or not exists (select from quake.quake_alias n
                                  where coalesce(n.named_by, n.code) = h.id and n.as_of > \(sql: asOf)))
             \(sql: isUnconfirmed)
             -- A snapshot of unknown age must mention the other event, too: otherwise an old file would
             -- lead to two preferred rows of one earthquake.
             and (h.successor is not null or \(sql: asOf) is not null
                  or exists (select from stated c where c.successor = h.id)
                  or exists (select from pg_temp.quake_staging s
                              where s.code = a.code and s.reject_reason is null))
      """
    resolve = """
      with recursive stated (id, successor) as materialized (
        select * from unnest(\(ids)::text[], \(successors)::text[])
         union all
        select id, null from unnest(\(sql: own)) o (id)
      ), accepted as materialized (
        select h.id, h.successor
          from stated h
          left join quake.quake q on q.code = h.id
          left join quake.quake_alias a on a.id = h.id
          -- The event that it is known to belong to, if that event's ids still have it.
          left join quake.quake y on y.code = coalesce(a.named_by, a.code)
               and \(sql: AssociationStatements.isOwn("y")) and \(sql: Self.names("y", "h.id"))
         where \(sql: isNews)
      ), touched (id) as (
        select id from accepted
         union
        select id from unnest(\(sql: own)) o (id)
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
      ), carrier as materialized (
        -- The events that another event replaces from now on, if either has marks of a person.
        select s.code as target, q.validated,
               case when \(sql: Self.isWithdrawnByHand("q")) then q.withdrawn_at end as withdrawn_at,
               case when not \(sql: AssociationStatements.isOwn("q")) then q.superseded_by end as superseded_by,
               -- An event that returns has marks that are out of date.
               t.superseded_by is not null and t.superseded_by = q.code as returns
          from resolved s
          join quake.quake q on q.code = s.id
          join quake.quake t on t.code = s.code
         where (q.validated or q.withdrawn_at is not null or q.superseded_by is not null
                or t.validated or t.withdrawn_at is not null)
           and q.superseded_by is distinct from s.code
           and case when \(sql: AssociationStatements.isOwn("q")) then true
                    else s.is_new and not \(sql: Self.isSupersededByImport("q")) end
      ), noted as (
        insert into quake.quake_alias as a (id, code, named_by, as_of)
        select id, code, named_by, case when is_new then \(sql: asOf) end
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
           and (\(sql: AssociationStatements.isOwn("q"))
                or \(sql: Self.isSupersededByImport("q")))
           -- A person may have set that this event supersedes the other one: two rows must not supersede each other.
           and not exists (
             with recursive chain (code) as (
               select t.superseded_by from quake.quake t
                where t.code = s.code and not \(sql: AssociationStatements.isOwn("t"))
                  and not \(sql: Self.isSupersededByImport("t"))
                union
               select t.superseded_by from chain c join quake.quake t on t.code = c.code
             )
             select from chain c where c.code = q.code)
        returning q.code
      ), freed as (
        delete from quake.quake_alias a using accepted s where a.id = s.id and s.successor is null
      ), restored as (
        update quake.quake q
           set superseded_by = null, as_of = coalesce(greatest(q.as_of, \(sql: asOf)), q.as_of)
          from accepted s
         where q.code = s.id and s.successor is null and \(sql: Self.isSupersededByImport("q"))
        returning q.code
      )
      select (select count(*) from superseded) as superseded,
             (select count(*) from restored) as restored,
             array_agg(c.target) as targets, array_agg(c.validated) as validated,
             array_agg(c.withdrawn_at) as withdrawn_at,
             array_agg(c.superseded_by) as superseded_by, array_agg(c.returns) as returns
        from carrier c
      """
  }

  /// Whether an import has superseded the event: see `init`.
  private static func isSupersededByImport(_ row: SQL) -> SQL {
    "exists (select from quake.quake_alias a where a.id = \(sql: row).code and a.code = \(sql: row).superseded_by)"
  }

  /// Whether a person has withdrawn the event: no absence says so, nor its agency.
  private static func isWithdrawnByHand(_ row: SQL) -> SQL {
    """
    \(sql: row).withdrawn_at is not null and not \(sql: AgencyDeletions.isDeletion(row))
                   and not exists (select from quake.absence a
                                    where a.code = \(sql: row).code and a.withdrawn_at = \(sql: row).withdrawn_at)
    """
  }

  /// A query of one row: the `withdrawn_at` and `superseded_by` that persons have set on the events whose ids the
  /// staged row `s` has. They are null if `o`, the stored event of its code, is there.
  static func hidden(_ source: SQL) -> SQL {
    """
    select max(p.withdrawn_at) as withdrawn_at, max(p.superseded_by) as superseded_by
                from (select case when \(sql: isWithdrawnByHand("q")) then q.withdrawn_at end as withdrawn_at,
                             case when not \(sql: AssociationStatements.isOwn("q"))
                                  then (select x.code from quake.quake x
                                         where x.code = q.superseded_by and x.code <> s.code
                                           and x.superseded_by is null) end as superseded_by
                        from unnest(string_to_array(btrim(s.ids, ','), ',')) i (id)
                        join quake.quake q on q.code = i.id
                       where (q.withdrawn_at is not null or q.superseded_by is not null)
                         and q.source = \(sql: source)
                         and (\(sql: AssociationStatements.isOwn("q")) or not \(sql: isSupersededByImport("q")))
                         -- Such an event in the snapshot is one of its own.
                         and q.code not in (select e.code from pg_temp.quake_staging e
                                             where e.code is not null and e.reject_reason is null)) p
               where o.code is null and s.ids <> ',' || s.code || ','
    """
  }

  /// The marks that persons have set on events that others replace: arrays as texts, with an element for each
  /// event that replaces another.
  struct Marks {
    var targets: String
    var validated: String?
    var withdrawnAt: String?
    var supersededBy: String?
    /// Whether the event returns: it is the preferred one again, and its own marks are out of date.
    var returns: String?
  }

  /// Gives events the marks that persons have set on the events that they replace.
  static func mark(_ marks: Marks) -> SQL {
    """
    with mark as (
      select m.code, bool_or(m.validated) as validated, max(m.withdrawn_at) as withdrawn_at,
             max(m.superseded_by) as superseded_by, bool_or(m.returns) as returns
        from unnest(\(marks.targets)::text[], \(marks.validated)::boolean[],
                    \(marks.withdrawnAt)::timestamptz[], \(marks.supersededBy)::text[],
                    \(marks.returns)::boolean[])
          m (code, validated, withdrawn_at, superseded_by, returns)
       group by m.code
    ), wanted as (
      select q.code, m.validated or (q.validated and not m.returns) as validated,
             case when m.returns and \(sql: isWithdrawnByHand("q")) then m.withdrawn_at
                  else coalesce(q.withdrawn_at, m.withdrawn_at) end as withdrawn_at,
             coalesce(q.superseded_by,
                      (select x.code from quake.quake x
                        where x.code = m.superseded_by and x.code <> q.code and x.superseded_by is null))
               as superseded_by
        from mark m join quake.quake q on q.code = m.code
    )
    update quake.quake q
       set validated = w.validated, withdrawn_at = w.withdrawn_at, superseded_by = w.superseded_by
      from wanted w
     where q.code = w.code
       and (q.validated, q.withdrawn_at, q.superseded_by)
           is distinct from (w.validated, w.withdrawn_at, w.superseded_by)
    """
  }

  /// Whether the ids of `event` contain `id`.
  private static func names(_ event: SQL, _ id: SQL) -> SQL {
    "strpos(',' || \(sql: event).ids || ',', ',' || \(sql: id) || ',') > 0"
  }

  /// Whether no newer snapshot has confirmed the stored row.
  private static func isUnconfirmed(since asOf: SQL) -> SQL {
    """
    and (y.code is null or not exists (\(sql: ImportStatements.confirmation(of: "y", after: asOf))))
           and (h.successor is null or not \(sql: AssociationStatements.isOwn("q"))
                or not exists (\(sql: ImportStatements.confirmation(of: "q", after: asOf))))
    """
  }
}
