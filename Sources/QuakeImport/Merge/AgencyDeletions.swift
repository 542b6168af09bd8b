internal import Postgres
internal import QuakeModel
internal import QuakeQuery

/// Withdraws the events that their agency has deleted, and restores those that it has revived.
///
/// A record that says so (`EventRecord.isDeletion`) is taken out of the staged records before the merge, so that
/// it is never stored as an event. The stored event keeps its values, except that the status or type now gives
/// the reason. Such a deletion is a part of the event's contents: a snapshot that may overwrite the contents may
/// also revive the event, whatever other snapshots lack it.
struct AgencyDeletions {
  let connection: Connection
  let options: ImportOptions
  let columns: [EventColumn]
  let asOf: SQL
  /// Whether a newer snapshot of some feed has been applied already.
  let isLate: Bool

  /// Deletions as the texts of arrays, an element for each; an empty text stands for null.
  struct Arrays {
    var codes: String
    var types: String?
    var statuses: String?
    var updated: String?
  }

  /// Removes the deletions from the staged records; nil: there is none. One of an event of another source stays:
  /// the merge rejects it.
  func removeStaged() throws(PostgresError) -> Arrays? {
    let (codes, types, statuses, updated) = try connection.row(
      removal, as: (String?, String?, String?, String?).self)
    return codes.map { Arrays(codes: $0, types: types, statuses: statuses, updated: updated) }
  }

  /// Withdraws the events, where nothing newer is stored and no other event has superseded them.
  func withdraw(_ deletions: Arrays, _ batch: inout ImportReport) throws {
    guard options.policy != .store else { return }
    let withdrawn = try connection.row(withdrawLive(deletions), as: Int64.self)
    if options.policy == .error, withdrawn > 0 {
      throw ImportRefusal(
        "\(withdrawn) of the events in the store \(withdrawn == 1 ? "is" : "are") deleted according to the source",
        hint: "Choose another merge policy to withdraw or to keep them.")
    }
    batch.updated += withdrawn
    batch.unchanged -= withdrawn
    batch.withdrawn += withdrawn
  }

  /// Withdrawn events that the snapshot has, and that an import has withdrawn.
  struct Returning {
    var codes: String
    /// Those of them that their agency had deleted.
    var deleted: String?
    var count: Int64
  }

  /// The events that the snapshot restores; nil: none. Read before the merge, which restores those whose contents
  /// change and overwrites the reason.
  func returning() throws(PostgresError) -> Returning? {
    let (codes, deleted, count) = try connection.row(
      returningStatement, as: (String?, String?, Int64).self)
    return codes.map { Returning(codes: $0, deleted: deleted, count: count) }
  }

  /// Restores those that the merge has not restored, because their contents are the same, and forgets that they
  /// had been deleted.
  func restore(_ events: Returning) throws(PostgresError) {
    try connection.execute(Self.restoreRest(events))
  }

  // MARK: - SQL

  /// Whether a row or staged record says that its event was deleted: the same rule as `EventRecord.isDeletion`.
  static func isDeletion(_ row: SQL) -> SQL {
    "(coalesce(\(sql: statusSays(row)), false) or coalesce(\(sql: typeSays(row)), false))"
  }

  private static func statusSays(_ row: SQL) -> SQL {
    "pg_catalog.lower(\(sql: row).status collate \"C\") in ('deleted', 'rejected')"
  }

  private static func typeSays(_ row: SQL) -> SQL {
    "pg_catalog.lower(\(sql: row).type collate \"C\") = 'not existing'"
  }

  private var source: (SQL) -> SQL { ImportStatements.source(columns) }

  private var removal: SQL {
    """
    with taken as (
      delete from pg_temp.quake_staging s
       where s.reject_reason is null and \(sql: Self.isDeletion("s"))
         and not exists (select from quake.quake q
                          where q.code = s.code and q.source is distinct from \(sql: source("s")))
      returning s.code, s.type, s.status, s.updated
    )
    select array_agg(code order by code collate "C"), array_agg(type order by code collate "C"),
           array_agg(status order by code collate "C"), array_agg(updated order by code collate "C")
      from taken
    """
  }

  /// Whether the snapshot may overwrite the contents of the row.
  private func mayOverwrite(_ row: SQL) -> SQL {
    guard options.policy != .always else { return "true" }
    let isUnconfirmed: SQL =
      isLate ? "and not exists (\(sql: ImportStatements.confirmation(of: row, after: asOf)))" : ""
    return """
      (\(sql: row).as_of is null or \(sql: asOf) is null or \(sql: row).as_of <= \(sql: asOf))
      \(sql: isUnconfirmed)
      """
  }

  /// An event that is withdrawn already stays as it is, so that an import of an export, which marks such events
  /// as deleted, changes nothing.
  private func withdrawLive(_ deletions: Arrays) -> SQL {
    """
    with gone as materialized (
      select q.code, g.type, nullif(g.status, '') as status,
             nullif(g.updated, '')::timestamptz as updated
        from unnest(\(deletions.codes)::text[], \(deletions.types)::text[],
                    \(deletions.statuses)::text[], \(deletions.updated)::text[])
               g (code, type, status, updated)
        join quake.quake q on q.code = g.code
       where q.withdrawn_at is null and \(sql: AssociationStatements.isOwn("q"))
         and \(sql: mayOverwrite("q"))
    ), withdrawn as (
      update quake.quake q
         set status = coalesce(g.status, q.status),
             type = case when \(sql: Self.typeSays("g")) then g.type else q.type end,
             updated = coalesce(g.updated, q.updated), as_of = \(sql: asOf),
             withdrawn_at = coalesce(\(sql: asOf), now())
        from gone g where q.code = g.code
    ), noted as (
      insert into quake.absence (code, feed, snapshots, since, withdrawn_at)
      select g.code, \(options.feed), 1, coalesce(\(sql: asOf), now()), coalesce(\(sql: asOf), now())
        from gone g order by g.code
      on conflict (code, feed) do update set withdrawn_at = excluded.withdrawn_at
    )
    select count(*) from gone
    """
  }

  private var returningStatement: SQL {
    """
    with back as (
      select q.code, \(sql: Self.isDeletion("q")) as was_deleted
        from quake.quake q join pg_temp.quake_staging s on s.code = q.code
       where q.withdrawn_at is not null and s.reject_reason is null
         and q.source = \(sql: source("s"))
         and exists (select from quake.absence a
                      where a.code = q.code and a.withdrawn_at = q.withdrawn_at)
         -- A snapshot of unknown age restores no event that others lack.
         and case when \(sql: Self.isDeletion("q")) then \(sql: mayOverwrite("q"))
                  else q.withdrawn_at <= \(sql: asOf) end
    )
    select array_agg(code), array_agg(code) filter (where was_deleted), count(*) from back
    """
  }

  /// A source without the column that gave the
  /// reason has not overwritten it.
  private static func restoreRest(_ events: Returning) -> SQL {
    let deleted: SQL = "\(events.deleted)::text[]"
    return """
      with forgotten as (
        delete from quake.absence a
         where a.code = any (\(sql: deleted)) and a.withdrawn_at is not null
      )
      update quake.quake q
         set withdrawn_at = null,
             status = case when \(sql: statusSays("q")) then null else q.status end,
             type = case when \(sql: typeSays("q")) then null else q.type end
       where q.code = any (\(events.codes)::text[])
         and (q.withdrawn_at is not null or q.code = any (\(sql: deleted)) and \(sql: isDeletion("q")))
      """
  }
}
