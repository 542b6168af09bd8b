internal import Postgres
internal import QuakeModel
internal import QuakeQuery

/// Withdraws the events that their agency has deleted, and restores those that it has revived.
///
/// A record that says so (`QuakeRecord.isDeletion`) is taken out of the staged records before the merge, so that
/// it is never stored as an event. The stored event keeps its values, except that the status or type now gives
/// the reason. Such a deletion is a part of the event's contents: a snapshot that may overwrite the contents may
/// also revive the event, whatever other snapshots lack it.
struct AgencyDeletions {
  let connection: Connection
  let options: ImportOptions
  let columns: [QuakeColumn]
  /// When the snapshot was generated.
  let asOf: Parameter
  /// Whether a newer snapshot of some feed has been applied already.
  let isLate: Bool

  /// Deletions as arrays, an element for each; an empty text stands for null.
  struct Arrays {
    var codes: Parameter
    var types: Parameter
    var statuses: Parameter
    var updated: Parameter

    /// - Parameter row: A row with the arrays.
    fileprivate init?(_ row: borrowing QueryResult) {
      guard let codes = row.text(0, 0) else { return nil }
      self.codes = .text(codes)
      types = .text(row.text(0, 1))
      statuses = .text(row.text(0, 2))
      updated = .text(row.text(0, 3))
    }
  }

  /// Removes the deletions from the staged records; nil: there is none. One of an event of another source stays:
  /// the merge rejects it.
  func removeStaged() throws(PostgresError) -> Arrays? {
    try Arrays(connection.execute(removal))
  }

  /// Withdraws the events, where nothing newer is stored and no other event has superseded them.
  func withdraw(_ deletions: Arrays, _ batch: inout ImportReport) throws {
    guard options.policy != .store else { return }
    let counts = try connection.execute(
      withdrawLive,
      [
        asOf, .text(options.feed), deletions.codes, deletions.types, deletions.statuses,
        deletions.updated,
      ])
    let withdrawn = counts.integer(0, 0) ?? 0
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
    let found = try connection.execute(returningStatement, [asOf])
    guard let codes = found.text(0, 0) else { return nil }
    return Returning(codes: codes, deleted: found.text(0, 1), count: found.integer(0, 2) ?? 0)
  }

  /// Restores those that the merge has not restored, because their contents are the same, and forgets that they
  /// had been deleted.
  func restore(_ events: Returning) throws(PostgresError) {
    try connection.execute(
      Self.restoreRest, [.text(events.codes), .text(events.deleted)])
  }

  // MARK: - SQL

  /// Whether a row or staged record says that its event was deleted: the same rule as `QuakeRecord.isDeletion`.
  static func isDeletion(_ row: String) -> String {
    "(coalesce(\(statusSays(row)), false) or coalesce(\(typeSays(row)), false))"
  }

  private static func statusSays(_ row: String) -> String {
    "pg_catalog.lower(\(row).status collate \"C\") in ('deleted', 'rejected')"
  }

  private static func typeSays(_ row: String) -> String {
    "pg_catalog.lower(\(row).type collate \"C\") = 'not existing'"
  }

  private var source: (String) -> String { ImportStatements.source(columns) }

  private var removal: SQL {
    SQL(
      trusted: """
        with taken as (
          delete from pg_temp.quake_staging s
           where s.reject_reason is null and \(Self.isDeletion("s"))
             and not exists (select from quake.quake q
                              where q.code = s.code and q.source is distinct from \(source("s")))
          returning s.code, s.type, s.status, s.updated
        )
        select array_agg(code order by code collate "C"), array_agg(type order by code collate "C"),
               array_agg(status order by code collate "C"), array_agg(updated order by code collate "C")
          from taken
        """)
  }

  /// Whether the snapshot may overwrite the contents of the row.
  private func mayOverwrite(_ row: String) -> String {
    guard options.policy != .always else { return "true" }
    return """
      (\(row).as_of is null or $1::timestamptz is null or \(row).as_of <= $1::timestamptz)
      \(isLate ? "and not exists (\(ImportStatements.confirmation(of: row)))" : "")
      """
  }

  /// An event that is withdrawn already stays as it is, so that an import of an export, which marks such events
  /// as deleted, changes nothing.
  private var withdrawLive: SQL {
    SQL(
      trusted: """
        with gone as materialized (
          select q.code, g.type, nullif(g.status, '') as status,
                 nullif(g.updated, '')::timestamptz as updated
            from unnest($3::text[], $4::text[], $5::text[], $6::text[]) g (code, type, status, updated)
            join quake.quake q on q.code = g.code
           where q.withdrawn_at is null and \(AssociationStatements.isOwn("q"))
             and \(mayOverwrite("q"))
        ), withdrawn as (
          update quake.quake q
             set status = coalesce(g.status, q.status),
                 type = case when \(Self.typeSays("g")) then g.type else q.type end,
                 updated = coalesce(g.updated, q.updated), as_of = $1::timestamptz,
                 withdrawn_at = coalesce($1::timestamptz, now())
            from gone g where q.code = g.code
        ), noted as (
          insert into quake.absence (code, feed, snapshots, since, withdrawn_at)
          select g.code, $2, 1, coalesce($1::timestamptz, now()), coalesce($1::timestamptz, now())
            from gone g order by g.code
          on conflict (code, feed) do update set withdrawn_at = excluded.withdrawn_at
        )
        select count(*) from gone
        """)
  }

  private var returningStatement: SQL {
    SQL(
      trusted: """
        with back as (
          select q.code, \(Self.isDeletion("q")) as was_deleted
            from quake.quake q join pg_temp.quake_staging s on s.code = q.code
           where q.withdrawn_at is not null and s.reject_reason is null
             and q.source = \(source("s"))
             and exists (select from quake.absence a
                          where a.code = q.code and a.withdrawn_at = q.withdrawn_at)
             -- A snapshot of unknown age restores no event that others lack.
             and case when \(Self.isDeletion("q")) then \(mayOverwrite("q"))
                      else q.withdrawn_at <= $1::timestamptz end
        )
        select array_agg(code), array_agg(code) filter (where was_deleted), count(*) from back
        """)
  }

  /// $1: the events; $2: those of them that their agency had deleted. A source without the column that gave the
  /// reason has not overwritten it.
  private static let restoreRest = SQL(
    trusted: """
      with forgotten as (
        delete from quake.absence a
         where a.code = any ($2::text[]) and a.withdrawn_at is not null
      )
      update quake.quake q
         set withdrawn_at = null,
             status = case when \(statusSays("q")) then null else q.status end,
             type = case when \(typeSays("q")) then null else q.type end
       where q.code = any ($1::text[])
         and (q.withdrawn_at is not null or q.code = any ($2::text[]) and \(isDeletion("q")))
      """)
}
