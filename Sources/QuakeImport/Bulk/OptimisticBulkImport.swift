internal import Postgres
internal import QuakeModel

/// Imports a source in batches from its first record, in one transaction, although only the whole source
/// shows whether batches are enough.
///
/// Batches are not enough if a code occurs again, if a rejected record is of an event that is counted as
/// missing, or if another session writes the same events and the two end in a deadlock. Then the
/// transaction is rolled back, the source is opened again, and a snapshot import begins, which writes the
/// events in the order of their codes. All of that is rare, and batches are faster.
struct OptimisticBulkImport<Source: ImportSource> {
  let connection: Connection
  let options: ImportOptions
  let start: BulkStart
  /// The row in `quake.import`.
  let row: ImportRecord
  /// Opens the source again; nil if it cannot be read twice. Then an import can only start in an empty
  /// store, and a deadlock ends it.
  let reopen: Importer.Reopen<Source>?

  func run(
    from source: inout Source, first: ImportItem?, record: inout QuakeRecord,
    generated: Timestamp?, progress: (Int64) -> Void,
    beforeCommit: (ImportReport) throws -> Void
  ) throws -> ImportReport {
    do {
      return try attempt(from: &source, first, &record, generated, progress, beforeCommit)
    } catch let needed as WholeSourceNeeded {
      guard let reopen else { throw needed }
      var options = options
      try reopen(needed.reason, &source, &options)
      return try Importer(connection: connection, options: options)
        .run(from: &source, progress: progress, beforeCommit: beforeCommit)
    }
  }

  private func attempt(
    from source: inout Source, _ first: ImportItem?, _ record: inout QuakeRecord,
    _ generated: Timestamp?, _ progress: (Int64) -> Void,
    _ beforeCommit: (ImportReport) throws -> Void
  ) throws -> ImportReport {
    var total = ImportReport()
    total.generated = generated
    try connection.importTransaction(dryRun: options.dryRun) {
      try row.write(&total, complete: false, over: connection)
      do {
        total = try BulkImport(
          connections: [connection], options: options, columns: source.columns,
          inferred: source.inferredColumns, record: row, total: total, start: start,
          commits: .onceAtTheEnd
        ).run(
          from: &source, lookahead: first, record: &record, shouldStop: { false },
          progress: progress)
      } catch let error as PostgresError
        where error.sqlState == SQLState.deadlockDetected && reopen != nil
      {
        throw WholeSourceNeeded(reason: "another session was writing the same events")
      }
      try ImportRefusal.throwIfAllRejected(total)
      try row.write(&total, complete: true, over: connection)
    } beforeCommit: {
      try beforeCommit(total)
    }
    return total
  }
}

/// Thrown by a bulk import beside stored events when batches are not enough. Only `OptimisticBulkImport`
/// catches it.
struct WholeSourceNeeded: Error {
  /// Why, as the end of a sentence.
  let reason: String
}
