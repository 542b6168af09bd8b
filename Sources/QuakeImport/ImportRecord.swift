internal import Basics
internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// The row of an import in `quake.import`.
struct ImportRecord {
  let options: ImportOptions
  let format: String
  let startedAt: Timestamp
  /// Which events the snapshot should hold; nil: unknown.
  let scope: SnapshotScope?

  /// Writes the counts so far; sets the report's id.
  func write(
    _ total: inout ImportReport, complete: Bool, over connection: Connection
  ) throws(PostgresError) {
    if total.id == nil { total.id = try insert(total, over: connection) }
    try connection.execute(
      """
      update quake.import
         set seen = \(total.seen), inserted = \(total.inserted), updated = \(total.updated),
             unchanged = \(total.unchanged), rejected = \(total.rejected),
             duplicate = \(total.duplicate), stale = \(total.stale),
             superseded = \(total.superseded), withdrawn = \(total.withdrawn),
             restored = \(total.restored), bytes = \(total.bytes), generated = \(total.generated),
             receive_duration = make_interval(secs => \(total.receiveDuration.inSeconds)),
             merge_duration = make_interval(secs => \(total.mergeDuration.inSeconds)),
             complete = \(complete), finished_at = clock_timestamp()
       where id = \(total.id)
      """)
    guard complete, options.replacesUnchanged, total.changesNothing else { return }
    try connection.execute("select quake.import__replace_unchanged(\(total.id))")
  }

  /// Adds the counts of one of several transactions, in that transaction.
  func add(
    _ part: ImportReport, to id: Int64, over connection: Connection
  ) throws(PostgresError) {
    try connection.execute(
      """
      update quake.import
         set seen = seen + \(part.seen), inserted = inserted + \(part.inserted),
             updated = updated + \(part.updated), unchanged = unchanged + \(part.unchanged),
             rejected = rejected + \(part.rejected), duplicate = duplicate + \(part.duplicate),
             stale = stale + \(part.stale), superseded = superseded + \(part.superseded),
             withdrawn = withdrawn + \(part.withdrawn), restored = restored + \(part.restored)
       where id = \(id)
      """)
  }

  /// The origin time back to which the snapshot reaches: it may reach further than its scope, but not
  /// further than its window.
  private func reach(
    of coverage: SnapshotScope?, over connection: Connection
  ) throws(PostgresError) -> String? {
    guard let coverage else { return nil }
    try connection.execute(ImportStatements.createStaging)
    let from: SQL = "\(coverage.from)::timestamptz"
    let start: SQL = "\(coverage.windowStart)::timestamptz"
    return try connection.row(
      """
      select least(\(sql: from), greatest(\(sql: start), coalesce(min(time), \(sql: from))))
        from pg_temp.quake_staging where reject_reason is null
      """, as: String?.self)
  }

  /// A snapshot in quarantine covers nothing, but has the name of its scope: a person may apply it.
  private func insert(
    _ total: ImportReport, over connection: Connection
  ) throws(PostgresError) -> Int64? {
    let coverage = total.quarantine == nil ? scope : nil
    let reach = try reach(of: coverage, over: connection)
    let quarantine: SQL = total.quarantine == nil ? "null" : "clock_timestamp()"
    return try connection.row(
      """
      insert into quake.import (
        source, feed, format, http_status, etag, last_modified, started_at, program,
        covers_from, covers_to, minimum_magnitude, scope, reaches_from,
        quarantined_at, quarantine_reason, quarantine_detail)
      values (\(options.source), \(options.feed), \(format), \(options.httpStatus), \(options.etag),
              \(options.lastModified), \(startedAt), \(options.program),
              \(coverage?.from), \(coverage?.to), \(coverage?.minimumMagnitude), \(scope?.name),
              \(reach), \(sql: quarantine), \(total.quarantine?.reason.rawValue), \(total.quarantine?.detail))
      returning id
      """, as: Int64.self)
  }
}

extension ImportReport {
  /// Whether the import has neither changed nor rejected anything.
  fileprivate var changesNothing: Bool {
    quarantine == nil && inserted + updated + rejected + superseded + withdrawn + restored == 0
  }
}
