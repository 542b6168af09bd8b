internal import Postgres

/// The SQL of associations.
package enum AssociationStatements {
  /// The condition that an event describes an earthquake as far as its own source is concerned: no other
  /// event has superseded it, except that the event may be associated with a preferred one.
  ///
  /// - Parameter row: The alias of the row of `quake.quake`.
  package static func isOwn(_ row: String) -> String {
    """
    (\(row).superseded_by is null
      or exists (select from quake.association n
                  where n.code = \(row).code and n.preferred = \(row).superseded_by))
    """
  }

  /// The condition that an event can be associated.
  static func isEligible(_ row: String) -> String {
    "\(row).withdrawn_at is null and \(row).longitude is not null and \(isOwn(row))"
  }

  /// What persons have decided about pairs of events, with the codes that these events have now: a decision
  /// follows an event when its preferred id changes. Of two decisions about one pair, the later one counts.
  static let decisions = """
    select distinct on (o.code, o.other) o.code collate "default" as code, o.other collate "default" as other, p.together
      from quake.association_pin p
      left join quake.quake_alias a on a.id = p.code and \(isAlias("a"))
      left join quake.quake_alias b on b.id = p.other and \(isAlias("b"))
     cross join lateral (
       select least(coalesce(a.code, p.code) collate "C", coalesce(b.code, p.other) collate "C"),
              greatest(coalesce(a.code, p.code) collate "C", coalesce(b.code, p.other) collate "C")) o (code, other)
     where o.code <> o.other
     order by o.code, o.other, p.decided_at desc
    """

  /// Whether the row of `quake.quake_alias` names no event of its own.
  static func isAlias(_ row: String) -> String {
    "not exists (select from quake.quake e where e.code = \(row).id and \(isOwn("e")))"
  }

  /// A number in units of about 1e-16: a product of smaller ones would underflow, which is an error.
  static func whole(_ number: String) -> String {
    "((\(number) + 1::double precision) - 1::double precision)"
  }

  /// Sets what a transaction that associates events needs: $1 is the author. It waits for no lock for longer
  /// than the server takes to look for a deadlock, so that an import never loses one to it.
  static let prepare: SQL = """
    select set_config('quake.associating', 'on', true), set_config('quake.author', $1, true),
           set_config('quake.context', 'association', true), set_config('lock_timeout', '100ms', true),
           set_config('jit', 'off', true)
    """

  /// One transaction at a time associates events: the next one sees what the last has committed. The mode
  /// needs a privilege to write the table.
  static let lock: SQL = "lock table quake.association in share row exclusive mode"

  /// Takes the next events that have changed, at most $1 notes.
  static let take: SQL = """
    with taken as (
      delete from quake.association_pending p
       where p.ctid = any (array(select o.ctid from quake.association_pending o limit $1))
      returning p.code
    )
    select distinct t.code from taken t
    """

  /// Notes all events that can have become, or ceased to be, part of an association. Each pair of candidates
  /// has an event that is not of the source with the most events.
  static let noteAll = SQL(
    trusted: """
      insert into quake.association_pending (code)
      select q.code from quake.quake q
       where q.source is distinct from (
         select s.source from quake.quake s group by s.source order by count(*) desc, s.source limit 1)
       union
      select a.code from quake.association a
       union
      select d.code from (\(decisions)) d
      """)

  /// The links of the events $1 with others: the association they are in now, the manual decisions, and
  /// the candidates: events of other sources within the windows $2 (seconds), $3 (kilometres) and $4
  /// (magnitudes), with the factor $5.
  ///
  /// The distance is that of the haversine formula, as in `quake.within`. A missing magnitude counts as half
  /// the window, neither near nor far.
  static let links = SQL(
    trusted: """
      with event as materialized (
        select q.code, q.source, q.time, \(whole("q.longitude")) as longitude,
               \(whole("q.latitude")) as latitude, q.magnitude,
               coalesce(q.status = 'automatic', false)
                 or coalesce(q.depth >= \(AssociationSettings.deep), false) as is_loose
          from quake.quake q
         where q.code = any ($1::text[]) and \(isEligible("q"))
      )
      select 'associated', a.code, o.code, null::double precision
        from quake.association a join quake.association o on o.preferred = a.preferred
       where a.code = any ($1::text[]) and o.code <> a.code
       union all
      select case when d.together then 'joined' else 'separated' end, d.code, d.other, null
        from (\(decisions)) d
       where d.code = any ($1::text[]) or d.other = any ($1::text[])
       union all
      select 'near', e.code, o.code,
             (d.seconds / $2::double precision) ^ 2 + (d.kilometres / $3::double precision) ^ 2
               + coalesce((d.magnitudes / $4::double precision) ^ 2, 0.25)
        from event e
       cross join lateral (
         select q.code, q.time, \(whole("q.longitude")) as longitude,
                \(whole("q.latitude")) as latitude, q.magnitude,
                coalesce(q.status = 'automatic', false)
                  or coalesce(q.depth >= \(AssociationSettings.deep), false) as is_loose
           from quake.quake q
          where q.time >= e.time - make_interval(secs => $2::double precision * $5::double precision)
            and q.time <= e.time + make_interval(secs => $2::double precision * $5::double precision)
            and q.source <> e.source and \(isEligible("q"))
         offset 0) o
       cross join lateral (
         select case when e.is_loose or o.is_loose then $5::double precision
                     else 1::double precision end as factor,
                abs(extract(epoch from o.time - e.time))::double precision as seconds,
                2 * 6371.0088::double precision * asin(least(1::double precision, sqrt(
                  sin(radians(o.latitude - e.latitude) / 2) ^ 2
                  + cos(radians(e.latitude)) * cos(radians(o.latitude))
                    * sin(radians(o.longitude - e.longitude) / 2) ^ 2))) as kilometres,
                \(whole("abs(o.magnitude - e.magnitude)")) as magnitudes) d
       where d.seconds <= $2::double precision * d.factor
         and d.kilometres <= $3::double precision * d.factor
         and (d.magnitudes is null or d.magnitudes <= $4::double precision)
      """)

  /// The events right before and after the events $1 in time, at most $2 on either side.
  static let around: SQL = """
    with span as (select min(q.time) as first, max(q.time) as last from quake.quake q where q.code = any ($1::text[]))
    (select q.code from quake.quake q, span s where q.time < s.first order by q.time desc limit $2)
    union all
    (select q.code from quake.quake q, span s where q.time > s.last order by q.time limit $2)
    """

  /// The events $1, as `AssociationEvent`; those that do not exist are in it if they have an association.
  static let events = SQL(
    trusted: """
      select c.code, coalesce(q.source, ''), coalesce(q.longitude, 0), coalesce(q.latitude, 0),
             coalesce(\(isEligible("q")), false), q.superseded_by, a.preferred
        from unnest($1::text[]) c (code)
        left join quake.quake q on q.code = c.code
        left join quake.association a on a.code = c.code
       where q.code is not null or a.code is not null
      """)

  /// Locks the rows $1 in the order in which an import writes them.
  static let lockRows: SQL = """
    select q.code from quake.quake q where q.code = any ($1::text[])
     order by q.code collate "C" for no key update
    """

  /// Gives the events $1 the successors $2, '' for none, unless their successor is no longer $3.
  static let supersede: SQL = """
    update quake.quake q set superseded_by = nullif(c.successor, '')
      from unnest($1::text[], $2::text[], $3::text[]) c (code, successor, before)
     where q.code = c.code and q.superseded_by is not distinct from nullif(c.before, '')
    """

  static let remove: SQL = "delete from quake.association where code = any ($1::text[])"

  static let add: SQL = """
    insert into quake.association as a (code, preferred)
    select * from unnest($1::text[], $2::text[]) c (code, preferred)
    on conflict (code) do update set preferred = excluded.preferred, since = now()
    """
}
