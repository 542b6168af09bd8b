internal import Postgres
internal import QuakeModel

/// The SQL of an import, made from the column list for the columns that a source can fill.
struct ImportStatements {
  /// Returns the number of new and of changed events, arrays of codes, and whether any record is of another
  /// source than its event.
  let merge: SQL
  /// Rejects the records of events that belong to another source, and returns them.
  let rejectForeign: SQL
  let countStale: SQL
  let firstConflict: SQL

  static let createStaging = SQL(
    trusted: """
      create temporary table if not exists pg_temp.quake_staging (
        record bigint not null,
        \(QuakeColumn.feed.map { "\($0.name) \($0.kind.sqlName)" }.joined(separator: ", ")),
        reject_place text, reject_reason text, reject_raw text, reject_of_time boolean
      ) on commit delete rows
      """)

  /// Drops the staging table of the session. Behind a pooler another program may have used the session
  /// before, and may have left a table of this name with its own triggers. To be called at the start of a
  /// transaction.
  static func dropStaging(over connection: Connection) throws(PostgresError) {
    guard !connection.hasNewSession else { return }
    try connection.execute("drop table if exists pg_temp.quake_staging")
  }

  /// Copies into the columns that a source can fill, and those of a reject.
  static func copy(_ columns: [QuakeColumn]) -> SQL {
    let names = columns.map(\.name).joined(separator: ", ")
    return SQL(
      trusted: """
        copy pg_temp.quake_staging
          (record, \(names), reject_place, reject_reason, reject_raw, reject_of_time)
        from stdin (format binary)
        """)
  }

  /// Copies records of a batch into the columns that a source can fill.
  static func copyRecords(_ columns: [QuakeColumn]) -> SQL {
    SQL(
      trusted: """
        copy pg_temp.quake_staging (record, \(columns.map(\.name).joined(separator: ", ")))
        from stdin (format binary)
        """)
  }

  /// Whether the store has neither events nor aliases, and no event was deleted from it.
  static let isStoreEmpty: SQL = """
    select not exists (select from quake.quake) and not exists (select from quake.quake_alias)
       and not exists (select from quake.tombstone)
    """

  /// Whether any of the ids $1 is an alias of an event or a deleted event, or any of $2 is an event's code.
  static let isAnyKnown: SQL = """
    select exists (select from quake.quake_alias where id = any($1::text[]))
        or exists (select from quake.tombstone where code = any($1::text[]))
        or exists (select from quake.quake where code = any($2::text[]))
    """

  /// Whether any of the events $1 is counted as missing from a feed.
  static let isAnyMissing: SQL = """
    select exists (select from quake.absence where code = any($1::text[]))
    """

  /// The stored rows of the events $1: the code, whether an import of the event could change nothing but its
  /// contents, and the contents.
  static func stored(_ columns: [QuakeColumn]) -> SQL {
    SQL(
      trusted: """
        select q.code,
               q.superseded_by is null and q.withdrawn_at is null
               and not exists (select from quake.absence a where a.code = q.code),
               \(columns.map { "q.\($0.name)" }.joined(separator: ", "))
          from quake.quake q where q.code = any($1::text[])
        """)
  }

  /// Adds the ids $1 as aliases of the events $2, which are new. If two events claim an id, the first gets
  /// it. $3: when the snapshot was generated.
  static let addAliases: SQL = """
    insert into quake.quake_alias (id, code, as_of)
    select distinct on (i.id) i.id, i.code, $3::timestamptz
      from unnest($1::text[], $2::text[]) i (id, code)
     order by i.id, i.code
    on conflict (id) do nothing
    """

  /// Deletes all records of a code but the last. With the join, a feed without duplicates, which is the rule,
  /// costs no more than the grouping.
  static let removeDuplicates: SQL = """
    delete from pg_temp.quake_staging s
     using (select code, max(record) as last from pg_temp.quake_staging
             where reject_reason is null group by code having count(*) > 1) d
     where s.code = d.code and s.record < d.last and s.reject_reason is null
    """

  /// - Parameter columns: The columns that the source can fill; `code` is among them.
  /// - Parameter inferred: Those that are set in new events only.
  /// - Parameter isLate: Whether a newer snapshot of some feed has been applied already. An event that it
  ///   held is not overwritten then, not even if it confirmed the stored contents and so wrote nothing.
  /// - Parameter hidesNew: Whether a new event is inserted with `withdrawn_at` and `superseded_by` if a person has
  ///   set them on an event that it replaces. `IdentityStatements.mark` sets them in any case, but only after a
  ///   version without them, which a watcher would report.
  /// - Parameter restores: Whether the events of $2, which are withdrawn, are restored if their contents change.
  init(
    columns: [QuakeColumn], inferred: Set<QuakeColumn> = [], policy: MergePolicy, isLate: Bool,
    hidesNew: Bool = false, restores: Bool = false
  ) {
    let all = columns.map(\.name)
    let rest = columns.filter { $0 != .code && !inferred.contains($0) }.map(\.name)
    func list(_ names: [String], _ prefix: String = "") -> String {
      names.map { prefix + $0 }.joined(separator: ", ")
    }
    let differs = "(\(list(rest, "o."))) is distinct from (\(list(rest, "s.")))"
    let source = Self.source(columns)
    let isForeign = "o.source is distinct from \(source("s"))"
    let fresh =
      policy == .always
      ? "true"
      : """
      (o.as_of is null or $1::timestamptz is null or o.as_of <= $1::timestamptz)
      \(isLate ? "and not exists (\(Self.confirmation(of: "o")))" : "")
      """

    // Written in the order of the codes, so that two imports of the same events wait for each other
    // instead of ending in a deadlock.
    //
    // Two guards against writing what is unchanged. The join: "on conflict do update ... where" alone
    // locks each unchanged row, which writes it (96 MB of WAL for 200,000 rows; with the join none).
    // The condition on the conflict: for a session that writes between the join and the insert.
    //
    // A record of another source than its event is not written, nor one whose code is another id of an event
    // of another source; a setting notes that there was one.
    let isWritten: String
    let onConflict: String
    let overwrites = policy.overwrites
    isWritten = """
      case when o.code is null
           then case when exists (\(Self.otherOwner(of: "s", source("s")))) then \(Self.noteForeign) else true end
           when not (\(differs)) then false
           when \(isForeign) then \(Self.noteForeign)
           else \(overwrites ? fresh : "false") end
      """
    if overwrites {
      onConflict = """
        do update set \(rest.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")), as_of = excluded.as_of
            \(restores ? ", withdrawn_at = case when q.code = any ($2::text[]) then null else q.withdrawn_at end" : "")
          where (\(list(rest, "q."))) is distinct from (\(list(rest, "excluded.")))
            \(policy == .always ? "" : "and (q.as_of is null or excluded.as_of is null or q.as_of <= excluded.as_of)")
            and case when q.source is distinct from \(source("excluded")) then \(Self.noteForeign) else true end
        """
    } else {
      onConflict = "do nothing"
    }
    // A row just inserted has no xmax; one that was updated still carries the lock of its conflict.
    merge = SQL(
      trusted: """
        with written as (
          insert into quake.quake as q (\(list(all)), as_of\(hidesNew ? ", withdrawn_at, superseded_by" : ""))
          select \(list(all, "s.")), $1::timestamptz\(hidesNew ? ", h.withdrawn_at, h.superseded_by" : "")
            from pg_temp.quake_staging s left join quake.quake o on o.code = s.code
            \(hidesNew ? "left join lateral (\(IdentityStatements.hidden(source("s")))) h on true" : "")
           where s.reject_reason is null and (\(isWritten))
           order by s.code collate "C"
          on conflict (code) \(onConflict)
          returning q.xmax = 0 as inserted, q.code
        )
        select count(*) filter (where inserted), count(*) filter (where not inserted),
               \(isLate ? "array_agg(code) filter (where inserted)" : "null"),
               (select array_agg(a.id) from written w join quake.quake_alias a on a.id = w.code
                 where w.inserted),
               current_setting('quake.foreign') = 'on'
          from written
        """)
    rejectForeign = SQL(
      trusted: """
        with found as materialized (
          select s.record, s.code, o.code as event, o.source as stored, \(source("s")) as source
            from pg_temp.quake_staging s join quake.quake o on o.code = s.code
           where s.reject_reason is null and \(differs) and \(isForeign)
           union all
          select s.record, s.code, y.code, y.source, \(source("s"))
            from pg_temp.quake_staging s
           cross join lateral (\(Self.otherOwner(of: "s", source("s")))) y
           where s.reject_reason is null
             and not exists (select from quake.quake o where o.code = s.code)
        )
        update pg_temp.quake_staging s
           set reject_place = 'record ' || s.record,
               reject_reason = format('%s belongs to the source "%s", and the record is of the source "%s".',
                                      case when f.code = f.event then format('The event "%s"', f.code)
                                           else format('The event "%s", which is also "%s",', f.event, f.code) end,
                                      f.stored, f.source),
               reject_raw = left(s::text, 65536), code = null
          from found f where f.record = s.record
        returning s.reject_place, s.reject_reason, s.reject_raw, f.code
        """)
    let conflicting = """
        from pg_temp.quake_staging s join quake.quake o on o.code = s.code
       where s.reject_reason is null and \(differs)
      """
    // After the merge, only records that are older than the row still differ.
    countStale = SQL(trusted: "select count(*) \(conflicting)")
    firstConflict = SQL(trusted: "select min(s.code), count(*) \(conflicting)")
  }

  /// An expression that is false, and sets `quake.foreign`: a record is of another source than its event.
  private static let noteForeign = "set_config('quake.foreign', 'on', true) is null"

  /// The event of another source that has the code of the staged row `row` among its ids.
  private static func otherOwner(of row: String, _ source: String) -> String {
    """
    select y.code, y.source
                from quake.quake_alias a join quake.quake y on y.code = coalesce(a.named_by, a.code)
               where a.id = \(row).code and y.source is distinct from \(source)
    """
  }

  /// The source of a row that has values of these columns. An event without a source is a local one.
  static func source(_ columns: [QuakeColumn]) -> (_ row: String) -> String {
    { columns.contains(.source) ? "\($0).source" : "'local'" }
  }

  /// Whether any snapshot that was generated after $1 has been applied, of a feed whose scope is known;
  /// whether any event is withdrawn; whether any is superseded.
  static let state: SQL = """
    select exists (select from quake.import
                    where generated > $1::timestamptz and covers_to is not null and quarantined_at is null),
           exists (select from quake.quake where withdrawn_at is not null),
           exists (select from quake.quake where superseded_by is not null)
    """

  /// Whether any snapshot that was generated after $1 has been imported.
  static let hasNewer: SQL = """
    select exists (select from quake.import where generated > $1::timestamptz)
    """

  /// The newer snapshots that confirmed the event as it is in the row `row`.
  static func confirmation(of row: String) -> String {
    """
    select from quake.import i
     where i.generated > $1::timestamptz and i.covers_to is not null and i.quarantined_at is null
       -- The event is in its window, or was and has not left it since.
       and i.generated < \(row).time + interval '32 days' and \(row).time >= i.reaches_from
       and (i.minimum_magnitude is null or \(row).magnitude >= i.minimum_magnitude)
       and \(row).source = 'usgs'
       and not exists (select from quake.absence a where a.code = \(row).code and a.since <= i.generated)
       and not exists (select from quake.quake_alias a
                        where a.id = \(row).code and a.code = \(row).superseded_by and a.as_of <= i.generated)
    """
  }
}
