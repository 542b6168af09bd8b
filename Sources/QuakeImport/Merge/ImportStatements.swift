internal import Postgres
internal import QuakeHistory
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

  static let createStaging: SQL = """
    create temporary table if not exists pg_temp.quake_staging (
      record bigint not null,
      \(sql: stagingColumns),
      reject_place text, reject_reason text, reject_raw text, reject_of_time boolean
    ) on commit delete rows
    """

  private static let stagingColumns = EventColumn.feed.map { column -> SQL in
    "\(identifier: column.name) \(sql: SQL(trusted: column.kind.sqlName))"
  }.joined(separator: ", ")

  static func names(_ columns: [EventColumn]) -> SQL {
    columns.map { SQL(identifier: $0.name) }.joined(separator: ", ")
  }

  /// Drops the staging table of the session. Behind a pooler another program may have used the session
  /// before, and may have left a table of this name with its own triggers. To be called at the start of a
  /// transaction.
  static func dropStaging(over connection: Connection) throws(PostgresError) {
    guard !connection.hasNewSession else { return }
    try connection.execute("drop table if exists pg_temp.quake_staging")
  }

  /// Copies into the columns that a source can fill, and those of a reject.
  static func copy(_ columns: [EventColumn]) -> SQL {
    """
    copy pg_temp.quake_staging
      (record, \(sql: names(columns)), reject_place, reject_reason, reject_raw, reject_of_time)
    from stdin (format binary)
    """
  }

  /// Copies records of a batch into the columns that a source can fill.
  static func copyRecords(_ columns: [EventColumn]) -> SQL {
    """
    copy pg_temp.quake_staging (record, \(sql: names(columns)))
    from stdin (format binary)
    """
  }

  /// Whether the store has neither events nor aliases, and no event was deleted from it.
  static let isStoreEmpty: SQL = """
    select not exists (select from quake.quake) and not exists (select from quake.quake_alias)
       and not exists (select from quake.tombstone)
    """

  /// Whether any of the ids is an alias of an event or a deleted event, or any of the claimed ones an event's code.
  static func isAnyKnown(_ ids: [String], claimed: [String]) -> SQL {
    let ids: SQL = "\(ids)::text[]"
    return """
      select exists (select from quake.quake_alias where id = any(\(sql: ids)))
          or exists (select from quake.tombstone where code = any(\(sql: ids)))
          or exists (select from quake.quake where code = any(\(claimed)::text[]))
      """
  }

  /// Whether any of the events is counted as missing from a feed.
  static func isAnyMissing(_ codes: [String]) -> SQL {
    "select exists (select from quake.absence where code = any(\(codes)::text[]))"
  }

  /// The stored rows of events: the code, whether an import of the event could change nothing but its
  /// contents, and the contents.
  ///
  /// - Parameter contents: The columns of the contents, of the alias `q`.
  static func stored(_ codes: [String], _ contents: SQL) -> SQL {
    """
    select q.code,
           q.superseded_by is null and q.withdrawn_at is null
           and not exists (select from quake.absence a where a.code = q.code),
           \(sql: contents)
      from quake.quake q where q.code = any(\(codes)::text[])
    """
  }

  /// Adds the claimed ids as aliases of their events, which are new. If two events claim an id, the first gets it.
  static func addAliases(_ claims: [IDClaim], asOf: Timestamp?) -> SQL {
    """
    insert into quake.quake_alias (id, code, as_of)
    select distinct on (i.id) i.id, i.code, \(asOf)::timestamptz
      from unnest(\(claims.map(\.id))::text[], \(claims.map(\.code))::text[]) i (id, code)
     order by i.id, i.code
    on conflict (id) do nothing
    """
  }

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
  /// - Parameter restored: The codes of withdrawn events that are restored if their contents change, as the text of
  ///   an array; nil: none are.
  init(
    columns: [EventColumn], inferred: Set<EventColumn> = [], policy: MergePolicy, asOf: SQL,
    isLate: Bool, hidesNew: Bool = false, restoring restored: String? = nil
  ) {
    let rest = columns.filter { $0 != .code && !inferred.contains($0) }
    let differs: SQL =
      "(\(sql: rest.list(of: "o"))) is distinct from (\(sql: rest.list(of: "s")))"
    let source = Self.source(columns)
    let isForeign: SQL = "o.source is distinct from \(sql: source("s"))"
    let isUnconfirmed: SQL =
      isLate ? "and not exists (\(sql: Self.confirmation(of: "o", after: asOf)))" : ""
    let fresh: SQL =
      policy == .always
      ? "true"
      : """
      (o.as_of is null or \(sql: asOf) is null or o.as_of <= \(sql: asOf))
      \(sql: isUnconfirmed)
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
    let onConflict: SQL
    let overwrites = policy.overwrites
    let isWritten: SQL = """
      case when o.code is null
           then case when exists (\(sql: Self.otherOwner(of: "s", source("s")))) then \(sql: Self.noteForeign) else true end
           when not (\(sql: differs)) then false
           when \(sql: isForeign) then \(sql: Self.noteForeign)
           else \(sql: overwrites ? fresh : "false") end
      """
    if overwrites {
      let assignments = rest.map { column -> SQL in
        "\(identifier: column.name) = excluded.\(identifier: column.name)"
      }
      let returns: SQL =
        restored.map {
          ", withdrawn_at = case when q.code = any (\($0)::text[]) then null else q.withdrawn_at end"
        } ?? ""
      let isNewer: SQL =
        policy == .always
        ? "" : "and (q.as_of is null or excluded.as_of is null or q.as_of <= excluded.as_of)"
      onConflict = """
        do update set \(sql: assignments.joined(separator: ", ")), as_of = excluded.as_of
            \(sql: returns)
          where (\(sql: rest.list(of: "q"))) is distinct from (\(sql: rest.list(of: "excluded")))
            \(sql: isNewer)
            and case when q.source is distinct from \(sql: source("excluded")) then \(sql: Self.noteForeign) else true end
        """
    } else {
      onConflict = "do nothing"
    }
    let marks: (names: SQL, values: SQL, join: SQL) =
      hidesNew
      ? (
        ", withdrawn_at, superseded_by", ", h.withdrawn_at, h.superseded_by",
        "left join lateral (\(sql: IdentityStatements.hidden(source("s")))) h on true"
      ) : ("", "", "")
    let insertedCodes: SQL = isLate ? "array_agg(code) filter (where inserted)" : "null"
    // A row just inserted has no xmax; one that was updated still carries the lock of its conflict.
    merge = """
      with written as (
        insert into quake.quake as q (\(sql: Self.names(columns)), as_of\(sql: marks.names))
        select \(sql: columns.list(of: "s")), \(sql: asOf)\(sql: marks.values)
          from pg_temp.quake_staging s left join quake.quake o on o.code = s.code
          \(sql: marks.join)
         where s.reject_reason is null and (\(sql: isWritten))
         order by s.code collate "C"
        on conflict (code) \(sql: onConflict)
        returning q.xmax = 0 as inserted, q.code
      )
      select count(*) filter (where inserted) as inserted,
             count(*) filter (where not inserted) as updated,
             \(sql: insertedCodes) as inserted_codes,
             (select array_agg(a.id) from written w join quake.quake_alias a on a.id = w.code
               where w.inserted) as own,
             current_setting('quake.foreign') = 'on' as has_foreign
        from written
      """
    rejectForeign = """
      with found as materialized (
        select s.record, s.code, o.code as event, o.source as stored, \(sql: source("s")) as source
          from pg_temp.quake_staging s join quake.quake o on o.code = s.code
         where s.reject_reason is null and \(sql: differs) and \(sql: isForeign)
         union all
        select s.record, s.code, y.code, y.source, \(sql: source("s"))
          from pg_temp.quake_staging s
         cross join lateral (\(sql: Self.otherOwner(of: "s", source("s")))) y
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
      """
    let conflicting: SQL = """
        from pg_temp.quake_staging s join quake.quake o on o.code = s.code
       where s.reject_reason is null and \(sql: differs)
      """
    // After the merge, only records that are older than the row still differ.
    countStale = "select count(*) \(sql: conflicting)"
    firstConflict = "select min(s.code), count(*) \(sql: conflicting)"
  }

  /// An expression that is false, and sets `quake.foreign`: a record is of another source than its event.
  private static let noteForeign: SQL = "set_config('quake.foreign', 'on', true) is null"

  /// The event of another source that has the code of the staged row `row` among its ids.
  private static func otherOwner(of row: SQL, _ source: SQL) -> SQL {
    """
    select y.code, y.source
                from quake.quake_alias a join quake.quake y on y.code = coalesce(a.named_by, a.code)
               where a.id = \(sql: row).code and y.source is distinct from \(sql: source)
    """
  }

  /// The source of a row that has values of these columns. An event without a source is a local one.
  static func source(_ columns: [EventColumn]) -> (_ row: SQL) -> SQL {
    { columns.contains(.source) ? "\(sql: $0).source" : "'local'" }
  }

  /// Whether any snapshot that was generated later has been applied, of a feed whose scope is known; whether any
  /// event is withdrawn; whether any is superseded.
  static func state(asOf: Timestamp?) -> SQL {
    """
    select exists (select from quake.import
                    where generated > \(asOf)::timestamptz and covers_to is not null
                      and quarantined_at is null),
           exists (select from quake.quake where withdrawn_at is not null),
           exists (select from quake.quake where superseded_by is not null)
    """
  }

  /// Whether any snapshot that was generated later has been imported.
  static func hasNewer(asOf: SQL) -> SQL {
    "select exists (select from quake.import where generated > \(sql: asOf))"
  }

  /// The newer snapshots that confirmed the event as it is in the row `row`.
  static func confirmation(of row: SQL, after asOf: SQL) -> SQL {
    """
    select from quake.import i
     where i.generated > \(sql: asOf) and i.covers_to is not null and i.quarantined_at is null
       -- The event is in its window, or was and has not left it since.
       and i.generated < \(sql: row).time + interval '32 days' and \(sql: row).time >= i.reaches_from
       and (i.minimum_magnitude is null or \(sql: row).magnitude >= i.minimum_magnitude)
       and \(sql: row).source = 'usgs'
       and not exists (select from quake.absence a where a.code = \(sql: row).code and a.since <= i.generated)
       and not exists (select from quake.quake_alias a
                        where a.id = \(sql: row).code and a.code = \(sql: row).superseded_by and a.as_of <= i.generated)
    """
  }
}
