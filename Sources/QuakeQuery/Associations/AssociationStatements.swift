package import Postgres

package enum AssociationStatements {
  /// The condition that an event describes an earthquake as far as its own source is concerned: no other
  /// event has superseded it, except that the event may be associated with a preferred one.
  ///
  /// - Parameter row: The alias of the row of `quake.quake`.
  package static func isOwn(_ row: SQL) -> SQL {
    """
    (\(sql: row).superseded_by is null
      or exists (select from quake.association n
                  where n.code = \(sql: row).code and n.preferred = \(sql: row).superseded_by))
    """
  }

  /// The condition that an event can be associated.
  static func isEligible(_ row: SQL) -> SQL {
    "\(sql: row).withdrawn_at is null and \(sql: row).longitude is not null and \(sql: isOwn(row))"
  }

  /// What persons have decided about pairs of events, with the codes that these events have now: a decision
  /// follows an event when its preferred id changes. Of two decisions about one pair, the later one counts.
  static let decisions: SQL = """
    select distinct on (o.code, o.other) o.code collate "default" as code, o.other collate "default" as other, p.together
      from quake.association_pin p
      left join quake.quake_alias a on a.id = p.code and \(sql: isAlias("a"))
      left join quake.quake_alias b on b.id = p.other and \(sql: isAlias("b"))
     cross join lateral (
       select least(coalesce(a.code, p.code) collate "C", coalesce(b.code, p.other) collate "C"),
              greatest(coalesce(a.code, p.code) collate "C", coalesce(b.code, p.other) collate "C")) o (code, other)
     where o.code <> o.other
     order by o.code, o.other, p.decided_at desc
    """

  /// Whether the row of `quake.quake_alias` names no event of its own.
  static func isAlias(_ row: SQL) -> SQL {
    "not exists (select from quake.quake e where e.code = \(sql: row).id and \(sql: isOwn("e")))"
  }

  /// A number in units of about 1e-16: a product of smaller ones would underflow, which is an error.
  static func whole(_ number: SQL) -> SQL {
    "((\(sql: number) + 1::double precision) - 1::double precision)"
  }

  /// Sets what a transaction that associates events needs. It waits for no lock for longer
  /// than the server takes to look for a deadlock, so that an import never loses one to it.
  static func prepare(author: String) -> SQL {
    """
    select set_config('quake.associating', 'on', true), set_config('quake.author', \(author), true),
           set_config('quake.context', 'association', true), set_config('lock_timeout', '100ms', true)
    """
  }

  /// One transaction at a time associates events: the next one sees what the last has committed. The mode
  /// needs a privilege to write the table.
  static let lock: SQL = "lock table quake.association in share row exclusive mode"

  /// Takes the next events that have changed, at most `count` notes.
  static func take(atMost count: Int) -> SQL {
    """
    with taken as (
      delete from quake.association_pending p
       where p.ctid = any (array(select o.ctid from quake.association_pending o limit \(count)))
      returning p.code
    )
    select distinct t.code from taken t
    """
  }

  /// Notes all events that can have become, or ceased to be, part of an association. Each pair of candidates
  /// has an event that is not of the source with the most events.
  static let noteAll: SQL = """
    insert into quake.association_pending (code)
    select q.code from quake.quake q
     where q.source is distinct from (
       select s.source from quake.quake s group by s.source order by count(*) desc, s.source limit 1)
     union
    select a.code from quake.association a
     union
    select d.code from (\(sql: decisions)) d
    """

  /// The links of events with others: the association they are in now, the manual decisions, and the
  /// candidates: events of other sources within the windows of the settings.
  ///
  /// The distance is that of the haversine formula, as in `quake.within`. A missing magnitude counts as half
  /// the window, neither near nor far. Magnitudes such as 4.9 and 3.4 are 1.5 apart, and a little more in binary.
  static func links(of codes: [String], _ settings: AssociationSettings) -> SQL {
    let codes: SQL = "\(codes)::text[]"
    let deep = AssociationSettings.deep
    let timeWindow: SQL = "\(settings.timeWindow)::double precision"
    let distanceWindow: SQL = "\(settings.distanceWindow)::double precision"
    let magnitudeWindow: SQL = "\(settings.magnitudeWindow)::double precision"
    let factor: SQL = "\(settings.looseFactor)::double precision"
    let window: SQL = "make_interval(secs => \(sql: timeWindow) * \(sql: factor))"
    return """
      with event as materialized (
        select q.code, q.source, q.time, \(sql: whole("q.longitude")) as longitude,
               \(sql: whole("q.latitude")) as latitude, q.magnitude,
               coalesce(\(sql: isAutomatic), false)
                 or coalesce(q.depth >= \(deep), false) as is_loose
          from quake.quake q
         where q.code = any (\(sql: codes)) and \(sql: isEligible("q"))
      )
      select 'associated' as kind, a.code, o.code as other, null::double precision as distance
        from quake.association a join quake.association o on o.preferred = a.preferred
       where a.code = any (\(sql: codes)) and o.code <> a.code
       union all
      select case when d.together then 'joined' else 'separated' end, d.code, d.other, null
        from (\(sql: decisions)) d
       where d.code = any (\(sql: codes)) or d.other = any (\(sql: codes))
       union all
      select 'near', e.code, o.code,
             (d.seconds / \(sql: timeWindow)) ^ 2 + (d.kilometres / \(sql: distanceWindow)) ^ 2
               + coalesce((d.magnitudes / \(sql: magnitudeWindow)) ^ 2, 0.25)
        from event e
       cross join lateral (
         select q.code, q.time, \(sql: whole("q.longitude")) as longitude,
                \(sql: whole("q.latitude")) as latitude, q.magnitude,
                coalesce(\(sql: isAutomatic), false)
                  or coalesce(q.depth >= \(deep), false) as is_loose
           from quake.quake q
          where q.time >= e.time - \(sql: window)
            and q.time <= e.time + \(sql: window)
            and q.source <> e.source and \(sql: isEligible("q"))
         offset 0) o
       cross join lateral (
         select case when e.is_loose or o.is_loose then \(sql: factor)
                     else 1::double precision end as factor,
                abs(extract(epoch from o.time - e.time))::double precision as seconds,
                2 * 6371.0088::double precision * asin(least(1::double precision, sqrt(
                  sin(radians(o.latitude - e.latitude) / 2) ^ 2
                  + cos(radians(e.latitude)) * cos(radians(o.latitude))
                    * sin(radians(o.longitude - e.longitude) / 2) ^ 2))) as kilometres,
                \(sql: whole("abs(o.magnitude - e.magnitude)")) as magnitudes) d
       where d.seconds <= \(sql: timeWindow) * d.factor
         and d.kilometres <= \(sql: distanceWindow) * d.factor
         and (d.magnitudes is null or d.magnitudes <= \(sql: magnitudeWindow) + 1e-9)
      """
  }

  /// Some feeds write statuses in capitals.
  private static let isAutomatic: SQL = "pg_catalog.lower(q.status collate \"C\") = 'automatic'"

  /// The events right before and after events in time, at most `count` on either side.
  static func around(_ codes: [String], atMost count: Int) -> SQL {
    """
    with span as (select min(q.time) as first, max(q.time) as last from quake.quake q where q.code = any (\(codes)::text[]))
    (select q.code from quake.quake q, span s where q.time < s.first order by q.time desc limit \(count))
    union all
    (select q.code from quake.quake q, span s where q.time > s.last order by q.time limit \(count))
    """
  }

  /// Events, as `AssociationEvent`; those that do not exist are in it if they have an association.
  static func events(_ codes: [String]) -> SQL {
    """
    select c.code, coalesce(q.source, ''), coalesce(q.longitude, 0), coalesce(q.latitude, 0),
           coalesce(\(sql: isEligible("q")), false), q.superseded_by, a.preferred
      from unnest(\(codes)::text[]) c (code)
      left join quake.quake q on q.code = c.code
      left join quake.association a on a.code = c.code
     where q.code is not null or a.code is not null
    """
  }

  /// Locks rows in the order in which an import writes them.
  static func lockRows(_ codes: SQL) -> SQL {
    """
    select q.code from quake.quake q where q.code = any (\(sql: codes))
     order by q.code collate "C" for no key update
    """
  }

  /// Gives events their successors, '' for none, unless their successor is no longer the one `before`.
  static func supersede(_ codes: SQL, by successors: [String], before: [String]) -> SQL {
    """
    update quake.quake q set superseded_by = nullif(c.successor, '')
      from unnest(\(sql: codes), \(successors)::text[], \(before)::text[]) c (code, successor, before)
     where q.code = c.code and q.superseded_by is not distinct from nullif(c.before, '')
    """
  }

  static func remove(_ codes: [String]) -> SQL {
    "delete from quake.association where code = any (\(codes)::text[])"
  }

  static func add(_ codes: [String], preferred: [String]) -> SQL {
    """
    insert into quake.association as a (code, preferred)
    select * from unnest(\(codes)::text[], \(preferred)::text[]) c (code, preferred)
    on conflict (code) do update set preferred = excluded.preferred, since = now()
    """
  }
}
