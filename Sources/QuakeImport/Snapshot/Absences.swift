package import Postgres
internal import QuakeQuery

/// Events that enough good snapshots lack for them to be withdrawn, if each event's own page is asked first.
package struct Absences {
  package struct Event: Sendable {
    package let code: String
    /// Address of its detail feed; nil: not known.
    package let detail: String?
  }

  private let connection: Connection

  package init(connection: Connection) {
    self.connection = connection
  }

  private static func missing(from feed: String, times: Int, limit: Int64) -> SQL {
    """
    select q.code, q.detail from quake.absence a join quake.quake q on q.code = a.code
     where a.feed = \(feed) and a.snapshots >= \(times)
       and q.withdrawn_at is null and \(sql: AssociationStatements.isOwn("q"))
       and (a.asked_at is null or a.asked_at < clock_timestamp() - interval '10 minutes')
     order by a.asked_at nulls first, a.since, q.code limit \(limit)
    """
  }

  /// The events that a feed lacked in at least `times` good snapshots, one after the other, without those
  /// that were postponed minutes ago.
  package func missing(
    from feed: String, times: Int, limit: Int64
  ) throws(PostgresError) -> [Event] {
    try connection.rows(
      Self.missing(from: feed, times: times, limit: limit), as: (String, String?).self
    ).map { Event(code: $0, detail: $1) }
  }

  /// Withdraws an event that was deleted from its catalogue.
  ///
  /// - Parameters:
  ///   - author: Author of the change in the history.
  ///   - context: Its context.
  package func withdraw(_ event: Event, author: String, context: String) throws {
    try connection.transaction {
      try connection.execute(
        """
        select set_config('quake.author', \(author), true),
               set_config('quake.context', \(context), true)
        """)
      // The same as an import does, so that an import can restore the event.
      try connection.execute(
        """
        with withdrawn as (
          update quake.quake q set status = 'deleted', withdrawn_at = a.at, as_of = a.at
            from (select date_trunc('milliseconds', clock_timestamp()) as at) a
           where q.code = \(event.code) and q.withdrawn_at is null
          returning q.code, q.withdrawn_at
        )
        update quake.absence a set withdrawn_at = w.withdrawn_at from withdrawn w where a.code = w.code
        """)
    }
    try Associations(connection: connection, author: author).updateAfterChange()
  }

  /// Postpones an event whose page did not answer: others come first.
  package func postpone(_ event: Event) throws {
    try connection.execute(
      "update quake.absence set asked_at = clock_timestamp() where code = \(event.code)")
  }

  /// Deletes the absence of an event that exists after all, so that counting begins anew.
  package func forget(_ event: Event) throws {
    try connection.execute("delete from quake.absence where code = \(event.code)")
  }
}

/// The SQL that counts how many good snapshots lacked an event that they should have held, and withdraws the
/// event after a number of them. Run after the merge, in its transaction.
///
/// An event's row in `quake.absence` stays until the event is present again, also when it is withdrawn. The
/// later snapshots that should have held the event are in `quake.import`, so that a late snapshot can be
/// counted among them.
enum AbsenceStatements {
  /// Snapshots, as `i`, that should have held the event of the row `q`.
  private static let covering: SQL = """
    i.covers_to is not null and i.quarantined_at is null and i.seen < \(SnapshotScope.longest)
      and i.generated < q.time + interval '32 days' and q.time between i.covers_from and i.covers_to
      and (i.minimum_magnitude is null or q.magnitude >= i.minimum_magnitude) and q.source = 'usgs'
    """

  /// Clears the absences of events that the snapshot has; newer snapshots may still lack them. Returns the
  /// events that newer ones lack, as an array.
  ///
  /// - Parameter asOf: When the snapshot was generated.
  static func clear(asOf: SQL) -> SQL {
    """
    with there as materialized (
      select distinct a.code, a.feed
        from quake.absence a
        join pg_temp.quake_staging s on s.code = a.code
        left join quake.quake q on q.code = a.code
       where a.since <= \(sql: asOf)
         -- A rejected record ends an absence, but does not restore a withdrawn event. Nor does a snapshot
         -- that is older than the one in which the agency deleted the event.
         and (a.withdrawn_at is null
              or s.reject_reason is null
                 and (not \(sql: AgencyDeletions.isDeletion("q")) or a.withdrawn_at <= \(sql: asOf)))
    ), after as materialized (
      select t.code, t.feed, n.snapshots, n.since
        from there t
        left join quake.quake q on q.code = t.code
       cross join lateral (
         select count(distinct i.generated) as snapshots, min(i.generated) as since
           from quake.import i
          where i.generated > \(sql: asOf) and i.scope = t.feed and \(sql: covering)) n
    ), cleared as (
      delete from quake.absence a using after n
       where a.code = n.code and a.feed = n.feed and n.snapshots = 0
    ), shortened as (
      update quake.absence a set snapshots = n.snapshots, since = n.since
        from after n
       where a.code = n.code and a.feed = n.feed and n.snapshots > 0
      returning a.code
    )
    select array_agg(code) from shortened
    """
  }

  /// Counts the snapshot, the newest of its feed. Returns how many events `times` snapshots or more lack.
  static func count(_ scope: SnapshotScope, times: Int?) -> SQL {
    """
    with \(sql: scope.expected), counted as (
      insert into quake.absence as a (code, feed, snapshots, since)
      select e.code, \(scope.name), 1, \(sql: scope.asOf) from expected e where not e.there order by e.code
      on conflict (code, feed) do update set snapshots = a.snapshots + 1
      returning snapshots
    ), forgotten as (
      -- Longer ago than any window reaches.
      delete from quake.absence a
       where a.since < \(sql: scope.asOf) - interval '40 days' and a.withdrawn_at is null
    )
    select count(*) filter (where snapshots >= \(times)) from counted
    """
  }

  /// Withdraws the events that `times` snapshots or more lack.
  static func withdraw(_ scope: SnapshotScope, times: Int?) -> SQL {
    let feed: SQL = "\(scope.name)"
    return """
      with \(sql: scope.expected), gone as materialized (
        select e.code from expected e
          join quake.absence a on a.code = e.code and a.feed = \(sql: feed) and a.snapshots >= \(times)
         where not e.there
      ), withdrawn as (
        update quake.quake q set withdrawn_at = \(sql: scope.asOf) from gone g where q.code = g.code
        returning q.code
      ), noted as (
        update quake.absence a
           set withdrawn_at = case when a.feed = \(sql: feed) then \(sql: scope.asOf) end
          from gone g where a.code = g.code
      )
      select count(*) from withdrawn
      """
  }

  /// Whether a snapshot of the feed has been applied that was generated later, or at the same time: a snapshot
  /// that is imported twice counts once.
  static func isLate(_ scope: SnapshotScope) -> SQL {
    """
    select exists (select from quake.import
                    where generated >= \(sql: scope.asOf) and scope = \(scope.name)
                      and covers_to is not null and quarantined_at is null)
    """
  }

  /// Counts the newer snapshots for events that a late snapshot has inserted: all newer ones lack them, unless an event
  /// was stored before and SQL has deleted it. Returns the events that were counted, as an array.
  ///
  /// - Parameter codes: The events, as the text of an array.
  static func countForInserted(_ codes: String, asOf: SQL) -> SQL {
    """
    with missed as (
      insert into quake.absence (code, feed, snapshots, since)
      select q.code, i.scope, count(distinct i.generated), min(i.generated)
        from quake.quake q
        join quake.import i on i.generated > \(sql: asOf) and \(sql: covering)
       where q.code = any (\(codes)::text[]) and \(sql: AssociationStatements.isOwn("q"))
         and (select count(distinct v.transaction_id) from quake.quake_version v where v.code = q.code) <= 1
       group by q.code, i.scope
      on conflict do nothing
      returning code
    )
    select array_agg(distinct code) from missed
    """
  }

  /// Counts a late snapshot of a feed, for events that no snapshot had between it and the first one that
  /// is known to lack them. Returns these events as an array.
  static func countLate(_ scope: SnapshotScope) -> SQL {
    let (feed, asOf): (SQL, SQL) = ("\(scope.name)", scope.asOf)
    return """
      with \(sql: SnapshotScope.claimed), unstaged as materialized (
        select q.code, q.time, q.magnitude, q.source
          from quake.quake q
         where \(sql: scope.isInside) and \(sql: AssociationStatements.isOwn("q"))
           -- Written so that the planner hashes the subquery, even if it expects few rows.
           and q.code not in (select s.code from pg_temp.quake_staging s where s.code is not null)
      ), missing as materialized (
        select q.*, a.since
          from unstaged q
          left join quake.absence a on a.code = q.code and a.feed = \(sql: feed)
         where not exists (select from claimed c where c.id = q.code)
      ), lacking as materialized (
        select q.code, least(q.since, \(sql: asOf)) as since, n.snapshots
          from missing q
         cross join lateral (
           select 1 + count(distinct i.generated) as snapshots
             from quake.import i
            where i.generated >= least(q.since, \(sql: asOf)) and i.generated <> \(sql: asOf)
              and i.scope = \(sql: feed) and \(sql: covering)) n
         where q.since <= \(sql: asOf)
            or not exists (select from quake.import i
                            where i.generated > \(sql: asOf)
                              and (q.since is null or i.generated < q.since) and \(sql: covering)
                              and not exists (select from quake.absence b
                                               where b.code = q.code and b.feed = i.scope
                                                 and b.since <= i.generated))
      ), counted as (
        insert into quake.absence as a (code, feed, snapshots, since)
        select code, \(sql: feed), snapshots, since from lacking order by code
        on conflict (code, feed) do update set snapshots = excluded.snapshots, since = excluded.since
         where (a.snapshots, a.since) is distinct from (excluded.snapshots, excluded.since)
        returning code
      )
      select array_agg(code) from counted
      """
  }

  /// Withdraws and restores events according to their counts.
  ///
  /// - Parameters:
  ///   - codes: The events, as the text of an array.
  ///   - asOf: When the snapshot was generated.
  ///   - feed: The feed whose absences it counts for; nil: none.
  ///   - times: The count from which on an event is withdrawn.
  static func review(_ codes: String, asOf: SQL, feed: String?, times: Int) -> SQL {
    let codes: SQL = "\(codes)::text[]"
    return """
      with due as materialized (
        select q.code, a.feed, n.generated as at
          from quake.quake q
          join quake.absence a on a.code = q.code and a.snapshots >= \(times)
         cross join lateral (
           select g.generated
             from (select i.generated from quake.import i
                    where i.generated >= a.since and i.scope = a.feed and \(sql: covering)
                    union select \(sql: asOf) where a.feed = \(feed) and a.since <= \(sql: asOf)) g
            order by g.generated offset \(times - 1) limit 1) n
         where q.code = any (\(sql: codes))
      ), first as materialized (
        select distinct on (code) code, feed, at from due order by code, at, feed
      ), changed as materialized (
        select q.code, f.feed, f.at, q.withdrawn_at is null as is_withdrawn
          from quake.quake q left join first f on f.code = q.code
         where q.code = any (\(sql: codes)) and \(sql: AssociationStatements.isOwn("q"))
           and q.withdrawn_at is distinct from f.at
           -- Not if a person has withdrawn the event, or if its agency has deleted it.
           and (q.withdrawn_at is null
                or not \(sql: AgencyDeletions.isDeletion("q"))
                   and exists (select from quake.absence a
                                where a.code = q.code and a.withdrawn_at = q.withdrawn_at))
      ), updated as (
        update quake.quake q set withdrawn_at = c.at from changed c where q.code = c.code
      ), noted as (
        update quake.absence a set withdrawn_at = case when a.feed = c.feed then c.at end
          from changed c where a.code = c.code
      )
      select count(*) filter (where is_withdrawn), count(*) filter (where at is null) from changed
      """
  }
}
