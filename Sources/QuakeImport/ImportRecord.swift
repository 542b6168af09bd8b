internal import Basics
internal import Postgres
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
         set seen = $2, inserted = $3, updated = $4, unchanged = $5, rejected = $6, duplicate = $7,
             stale = $8, superseded = $9, withdrawn = $10, restored = $11, bytes = $12,
             generated = $13, receive_duration = make_interval(secs => $14),
             merge_duration = make_interval(secs => $15), complete = $16,
             finished_at = clock_timestamp()
       where id = $1
      """,
      [
        .integer(total.id), .integer(total.seen), .integer(total.inserted),
        .integer(total.updated), .integer(total.unchanged), .integer(total.rejected),
        .integer(total.duplicate), .integer(total.stale), .integer(total.superseded),
        .integer(total.withdrawn), .integer(total.restored), .integer(total.bytes),
        .text(total.generated?.description), .double(total.receiveDuration.inSeconds),
        .double(total.mergeDuration.inSeconds), .bool(complete),
      ])
  }

  /// Adds the counts of one of several transactions, in that transaction.
  func add(
    _ part: ImportReport, to id: Int64, over connection: Connection
  ) throws(PostgresError) {
    try connection.execute(
      """
      update quake.import
         set seen = seen + $2, inserted = inserted + $3, updated = updated + $4,
             unchanged = unchanged + $5, rejected = rejected + $6, duplicate = duplicate + $7,
             stale = stale + $8, superseded = superseded + $9, restored = restored + $10
       where id = $1
      """,
      [
        .integer(id), .integer(part.seen), .integer(part.inserted), .integer(part.updated),
        .integer(part.unchanged), .integer(part.rejected), .integer(part.duplicate),
        .integer(part.stale), .integer(part.superseded), .integer(part.restored),
      ])
  }

  /// The origin time back to which the snapshot reaches: it may reach further than its scope, but not
  /// further than its window.
  private func reach(
    of coverage: SnapshotScope?, over connection: Connection
  ) throws(PostgresError) -> String? {
    guard let coverage else { return nil }
    try connection.execute(ImportStatements.createStaging)
    return try connection.execute(
      """
      select least($1::timestamptz, greatest($2::timestamptz, coalesce(min(time), $1::timestamptz)))
        from pg_temp.quake_staging where reject_reason is null
      """, [.text(coverage.from.description), .text(coverage.windowStart.description)]
    ).text(0, 0)
  }

  private func insert(
    _ total: ImportReport, over connection: Connection
  ) throws(PostgresError) -> Int64? {
    let coverage = total.quarantine == nil ? scope : nil
    return try connection.execute(
      """
      insert into quake.import (
        source, feed, format, http_status, etag, last_modified, started_at, program,
        covers_from, covers_to, minimum_magnitude, scope, reaches_from,
        quarantined_at, quarantine_reason, quarantine_detail)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $14,
        $15,
        case when $12::text is not null then clock_timestamp() end, $12, $13)
      returning id
      """,
      [
        .text(options.source), .text(options.feed), .text(format),
        .integer(options.httpStatus.map { Int64($0) }), .text(options.etag),
        .text(options.lastModified), .text(startedAt.description), .text(options.program),
        .text(coverage?.from.description), .text(coverage?.to.description),
        .double(coverage?.minimumMagnitude), .text(total.quarantine?.reason.rawValue),
        .text(total.quarantine?.detail), .text(coverage?.scope.name),
        .text(try reach(of: coverage, over: connection)),
      ]
    ).integer(0, 0)
  }
}

extension QueryResult {
  /// A `timestamptz` in the binary format; nil for null.
  func timestamp(_ row: Int, _ column: Int) -> Timestamp? {
    binaryTimestamp(row, column).map { Timestamp(microseconds: $0) }
  }
}
