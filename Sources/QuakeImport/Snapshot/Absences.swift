package import Postgres
internal import QuakeQuery

/// Events that enough good snapshots lack for them to be withdrawn, if each event's own page is asked first.
package struct Absences {
  /// An event that is missing.
  package struct Event: Sendable {
    /// Its code.
    package let code: String
    /// Address of its detail feed; nil: not known.
    package let detail: String?
  }

  private let connection: Connection

  /// The absences in the database of `connection`.
  package init(connection: Connection) {
    self.connection = connection
  }

  private static let missing = SQL(
    trusted: """
      select q.code, q.detail from quake.absence a join quake.quake q on q.code = a.code
       where a.feed = $1 and a.snapshots >= $2
         and q.withdrawn_at is null and \(AssociationStatements.isOwn("q"))
         and (a.asked_at is null or a.asked_at < clock_timestamp() - interval '10 minutes')
       order by a.asked_at nulls first, a.since, q.code limit $3
      """)

  /// The events that a feed lacked in at least `times` good snapshots, one after the other, without those
  /// that were postponed minutes ago.
  package func missing(
    from feed: String, times: Int, limit: Int64
  ) throws(PostgresError) -> [Event] {
    let rows = try connection.execute(
      Self.missing, [.text(feed), .integer(Int64(times)), .integer(limit)])
    return (0..<rows.rowCount).map { Event(code: rows.text($0, 0) ?? "", detail: rows.text($0, 1)) }
  }

  /// Withdraws an event that was deleted from its catalogue.
  ///
  /// - Parameters:
  ///   - author: Author of the change in the history.
  ///   - context: Its context.
  package func withdraw(_ event: Event, author: String, context: String) throws {
    try connection.transaction {
      try connection.execute(
        "select set_config('quake.author', $1, true), set_config('quake.context', $2, true)",
        [.text(author), .text(context)])
      // The same as an import does, so that an import can restore the event.
      try connection.execute(
        """
        with withdrawn as (
          update quake.quake q set status = 'deleted', withdrawn_at = a.at, as_of = a.at
            from (select date_trunc('milliseconds', clock_timestamp()) as at) a
           where q.code = $1 and q.withdrawn_at is null
          returning q.code, q.withdrawn_at
        )
        update quake.absence a set withdrawn_at = w.withdrawn_at from withdrawn w where a.code = w.code
        """, [.text(event.code)])
    }
    try Associations(connection: connection, author: author).updateAfterChange()
  }

  /// Postpones an event whose page did not answer: others come first.
  package func postpone(_ event: Event) throws {
    try connection.execute(
      "update quake.absence set asked_at = clock_timestamp() where code = $1", [.text(event.code)])
  }

  /// Deletes the absence of an event that exists after all, so that counting begins anew.
  package func forget(_ event: Event) throws {
    try connection.execute("delete from quake.absence where code = $1", [.text(event.code)])
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
  private static let covering = """
    i.covers_to is not null and i.quarantined_at is null and i.seen < \(SnapshotScope.longest)
      and i.generated < q.time + interval '32 days' and q.time between i.covers_from and i.covers_to
      and (i.minimum_magnitude is null or q.magnitude >= i.minimum_magnitude) and q.source = 'usgs'
    """

  /// Clears the absences of events that the snapshot has; newer snapshots may still lack them. $1: when the
  /// snapshot was generated. Returns the events that newer ones lack, as an array.
  static let clear = SQL(
    trusted: """
      with there as materialized (
        select distinct a.code, a.feed
          from quake.absence a
          join pg_temp.quake_staging s on s.code = a.code
          left join quake.quake q on q.code = a.code
         where a.since <= $1::timestamptz
           -- A rejected record ends an absence, but does not restore a withdrawn event. Nor does a snapshot
           -- that is older than the one in which the agency deleted the event.
           and (a.withdrawn_at is null
                or s.reject_reason is null
                   and (not \(AgencyDeletions.isDeletion("q")) or a.withdrawn_at <= $1::timestamptz))
      ), after as materialized (
        select t.code, t.feed, n.snapshots, n.since
          from there t
          left join quake.quake q on q.code = t.code
         cross join lateral (
           select count(distinct i.generated) as snapshots, min(i.generated) as since
             from quake.import i
            where i.generated > $1::timestamptz and i.scope = t.feed and \(covering)) n
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
      """)

  /// Counts the snapshot, the newest of the feed $6. Returns how many events $7 snapshots or more lack.
  static let count = SQL(
    trusted: """
      with \(SnapshotScope.expected), counted as (
        insert into quake.absence as a (code, feed, snapshots, since)
        select e.code, $6, 1, $5::timestamptz from expected e where not e.there order by e.code
        on conflict (code, feed) do update set snapshots = a.snapshots + 1
        returning snapshots
      ), forgotten as (
        -- Longer ago than any window reaches.
        delete from quake.absence a
         where a.since < $5::timestamptz - interval '40 days' and a.withdrawn_at is null
      )
      select count(*) filter (where snapshots >= $7) from counted
      """)

  /// Withdraws the events that $7 snapshots or more lack. The other parameters are those of `count`.
  static let withdraw = SQL(
    trusted: """
      with \(SnapshotScope.expected), gone as materialized (
        select e.code from expected e
          join quake.absence a on a.code = e.code and a.feed = $6 and a.snapshots >= $7
         where not e.there
      ), withdrawn as (
        update quake.quake q set withdrawn_at = $5::timestamptz from gone g where q.code = g.code
        returning q.code
      ), noted as (
        update quake.absence a
           set withdrawn_at = case when a.feed = $6 then $5::timestamptz end
          from gone g where a.code = g.code
      )
      select count(*) from withdrawn
      """)

  /// Whether a snapshot of the feed $2 has been applied that was generated later, or at the same time: a
  /// snapshot that is imported twice counts once.
  static let isLate: SQL = """
    select exists (select from quake.import
                    where generated >= $1::timestamptz and scope = $2 and covers_to is not null
                      and quarantined_at is null)
    """

  /// Counts the newer snapshots for events ($2) that a late snapshot has inserted: all newer ones lack them.
  /// Returns the events that were counted, as an array.
  static let countForInserted = SQL(
    trusted: """
      with missed as (
        insert into quake.absence (code, feed, snapshots, since)
        select q.code, i.scope, count(distinct i.generated), min(i.generated)
          from quake.quake q
          join quake.import i on i.generated > $1::timestamptz and \(covering)
         where q.code = any ($2::text[]) and \(AssociationStatements.isOwn("q"))
         group by q.code, i.scope
        on conflict do nothing
        returning code
      )
      select array_agg(distinct code) from missed
      """)

  /// Counts a late snapshot of the feed $6, for events that no snapshot had between it and the first one that
  /// is known to lack them. Returns these events as an array.
  static let countLate = SQL(
    trusted: """
      with \(SnapshotScope.claimed), unstaged as materialized (
        select q.code, q.time, q.magnitude, q.source
          from quake.quake q
         where q.source = $1 and q.time >= $2::timestamptz and q.time <= $3::timestamptz
           and ($4::double precision is null or q.magnitude >= $4)
           and q.as_of <= $5::timestamptz and \(AssociationStatements.isOwn("q"))
           -- Written so that the planner hashes the subquery, even if it expects few rows.
           and q.code not in (select s.code from pg_temp.quake_staging s where s.code is not null)
      ), missing as materialized (
        select q.*, a.since
          from unstaged q
          left join quake.absence a on a.code = q.code and a.feed = $6
         where not exists (select from claimed c where c.id = q.code)
      ), lacking as materialized (
        select q.code, least(q.since, $5::timestamptz) as since, n.snapshots
          from missing q
         cross join lateral (
           select 1 + count(distinct i.generated) as snapshots
             from quake.import i
            where i.generated >= least(q.since, $5::timestamptz) and i.generated <> $5::timestamptz
              and i.scope = $6 and \(covering)) n
         where q.since <= $5::timestamptz
            or not exists (select from quake.import i
                            where i.generated > $5::timestamptz
                              and (q.since is null or i.generated < q.since) and \(covering)
                              and not exists (select from quake.absence b
                                               where b.code = q.code and b.feed = i.scope
                                                 and b.since <= i.generated))
      ), counted as (
        insert into quake.absence as a (code, feed, snapshots, since)
        select code, $6, snapshots, since from lacking order by code
        on conflict (code, feed) do update set snapshots = excluded.snapshots, since = excluded.since
         where (a.snapshots, a.since) is distinct from (excluded.snapshots, excluded.since)
        returning code
      )
      select array_agg(code) from counted
      """)

  /// Withdraws and restores events ($2) according to their counts. $1: when the snapshot was generated; $3:
  /// the feed whose absences it counts for; null: none; $4: the count from which on an event is withdrawn.
  static let review = SQL(
    trusted: """
      with due as materialized (
        select q.code, a.feed, n.generated as at
          from quake.quake q
          join quake.absence a on a.code = q.code and a.snapshots >= $4
         cross join lateral (
           select g.generated
             from (select i.generated from quake.import i
                    where i.generated >= a.since and i.scope = a.feed and \(covering)
                    union select $1::timestamptz where a.feed = $3 and a.since <= $1::timestamptz) g
            order by g.generated offset $4 - 1 limit 1) n
         where q.code = any ($2::text[])
      ), first as materialized (
        select distinct on (code) code, feed, at from due order by code, at, feed
      ), changed as materialized (
        select q.code, f.feed, f.at, q.withdrawn_at is null as is_withdrawn
          from quake.quake q left join first f on f.code = q.code
         where q.code = any ($2::text[]) and \(AssociationStatements.isOwn("q"))
           and q.withdrawn_at is distinct from f.at
           -- Not if a person has withdrawn the event, or if its agency has deleted it.
           and (q.withdrawn_at is null
                or not \(AgencyDeletions.isDeletion("q"))
                   and exists (select from quake.absence a
                                where a.code = q.code and a.withdrawn_at = q.withdrawn_at))
      ), updated as (
        update quake.quake q set withdrawn_at = c.at from changed c where q.code = c.code
      ), noted as (
        update quake.absence a set withdrawn_at = case when a.feed = c.feed then c.at end
          from changed c where a.code = c.code
      )
      select count(*) filter (where is_withdrawn), count(*) filter (where at is null) from changed
      """)
}
