public import Postgres
internal import QuakeModel

/// Brings the records of a source into the store: COPY into a temporary table, then one guarded
/// insert-or-update of what is new or different. What did not change is not written.
///
/// An import is one transaction: all of it or nothing, with its row in `quake.import`. With
/// `commitEvery` it is one for each batch, and can be repeated safely: what is already there is
/// unchanged.
public struct Importer {
  private let connection: Connection
  private let options: ImportOptions

  /// Up to this many rows the planner's guess of a fresh temporary table is good enough.
  private static let analyzeFrom = 10_000

  /// An importer that writes over `connection`, which it uses alone while it runs.
  public init(connection: Connection, options: ImportOptions) {
    self.connection = connection
    self.options = options
  }

  private struct DryRun: Error {}

  /// Imports everything the source has.
  ///
  /// - Parameters:
  ///   - source: Where the records come from.
  ///   - shouldStop: Asked between batches, where the import can be left; the report says that it is
  ///     not complete.
  ///   - progress: Called now and then with the number of records read so far.
  ///   - beforeCommit: Called in the transaction that ends the import, when all else in it is done, for
  ///     what must be stored with the records or not at all; its error undoes them. Not called in a dry
  ///     run.
  /// - Returns: What was done.
  /// - Throws: `StoreError` of kind `badData` if every record is rejected, or the policy forbids what
  ///   was found; `PostgresError`; whatever the source throws. Then nothing of the transaction under
  ///   way stays.
  public func run(
    from source: inout some ImportSource, shouldStop: () -> Bool = { false },
    progress: (Int64) -> Void = { _ in },
    beforeCommit: (ImportReport) throws -> Void = { _ in }
  ) throws -> ImportReport {
    let startedAt = Timestamp.now()
    // The first record tells whether there is anything to read, and which columns: a feed that cannot
    // be read never reaches the database.
    var record = QuakeRecord()
    var lookahead = try source.next(into: &record)
    try connection.execute(ImportStatements.createStaging)
    let statements = ImportStatements(columns: source.columns, policy: options.policy)
    var total = ImportReport()
    do {
      repeat {
        var batch = ImportReport()
        try connection.transaction {
          let begun = ContinuousInstant.now()
          lookahead = try stage(
            from: &source, statements: statements, lookahead: lookahead, record: &record,
            before: total, batch: &batch, progress: progress)
          batch.receiveDuration = begun.elapsed
          total.bytes = source.bytesRead
          // No snapshot is of the future: one that says so would hold back all that follow.
          let generated = (source.generated ?? options.generated).map { min($0, .now()) }
          total.generated = generated
          if lookahead == nil { try refuseIfNothingIsUsable(in: total, and: batch) }
          try merge(&batch, statements: statements, generated: generated)
          total.add(batch)
          try writeImportRow(
            &total, format: source.format, startedAt: startedAt, complete: lookahead == nil)
          try storeRejects(of: total.id)
          if options.dryRun { throw DryRun() }
          if lookahead == nil { try beforeCommit(total) }
        }
        total.isComplete = lookahead == nil
      } while !total.isComplete && !shouldStop()
    } catch is DryRun {
      total.id = nil
      total.isComplete = true
      return total
    }
    try readToken(&total)
    return total
  }

  /// Copies records into the staging table: all, or as many as one commit takes. The first commit
  /// takes more if it has to, until there is a record that can be used: whether there is any decides
  /// on the whole import. Returns the first record that did not fit.
  private func stage(
    from source: inout some ImportSource, statements: ImportStatements, lookahead: ImportItem?,
    record: inout QuakeRecord, before: ImportReport, batch: inout ImportReport,
    progress: (Int64) -> Void
  ) throws -> ImportItem? {
    let columns = source.columns
    let limit = options.dryRun ? Int64.max : options.commitEvery.map { Int64($0) } ?? Int64.max
    var item = lookahead
    try connection.copyIn(statements.copy) { writer in
      while let current = item,
        batch.seen < limit || (before.seen == 0 && batch.rejected == batch.seen)
      {
        batch.seen += 1
        try writer.beginRow(columnCount: columns.count + 4)
        try writer.int8(before.seen + batch.seen)
        switch current {
        case .record:
          for column in columns { try writer.value(of: column, in: record) }
          for _ in 0..<3 { try writer.null() }
        case .reject(let reject):
          batch.rejected += 1
          if batch.firstReject == nil { batch.firstReject = reject }
          for _ in columns { try writer.null() }
          try writer.text(reject.place)
          try writer.text(reject.reason)
          try writer.text(reject.raw)
        }
        if batch.seen % 1000 == 0 { progress(before.seen + batch.seen) }
        item = try source.next(into: &record)
      }
    }
    progress(before.seen + batch.seen)
    return item
  }

  /// At the end of the source: a single batch may well have nothing but rejects.
  private func refuseIfNothingIsUsable(
    in earlier: ImportReport, and last: ImportReport
  ) throws {
    var report = earlier
    report.add(last)
    guard report.seen > 0, report.rejected == report.seen, let first = report.firstReject
    else { return }
    throw StoreError(
      .badData,
      report.seen == 1
        ? "the only record was rejected: \(first.place): \(first.reason)"
        : "all \(report.seen) records were rejected, the first: \(first.place): \(first.reason)",
      detail: "Nothing was imported.",
      hint: "Check that this is an earthquake feed in a form this program reads.",
      report: report)
  }

  private func merge(
    _ batch: inout ImportReport, statements: ImportStatements, generated: Timestamp?
  ) throws {
    let begun = ContinuousInstant.now()
    try connection.execute("set local jit = off")
    if batch.seen > Self.analyzeFrom { try connection.execute("analyze pg_temp.quake_staging") }
    batch.duplicate = Int64(try connection.execute(ImportStatements.removeDuplicates).affectedRows)
    if options.policy == .error { try refuseConflicts(statements) }
    try connection.execute(
      "select set_config('quake.author', $1, true), set_config('quake.context', $2, true)",
      [.text(options.author), .text(options.context ?? options.feed)])
    let asOf = Parameter.text(generated?.description)
    let counts = try connection.execute(statements.merge, [asOf])
    batch.inserted = counts.integer(0, 0) ?? 0
    batch.updated = counts.integer(0, 1) ?? 0
    batch.unchanged =
      batch.seen - batch.rejected - batch.duplicate - batch.inserted - batch.updated
    if options.policy == .incoming {
      batch.stale = try connection.execute(statements.countStale, [asOf]).integer(0, 0) ?? 0
    }
    batch.mergeDuration = begun.elapsed
  }

  private func refuseConflicts(_ statements: ImportStatements) throws {
    let conflict = try connection.execute(statements.firstConflict)
    guard let code = conflict.text(0, 0), let count = conflict.integer(0, 1) else { return }
    throw StoreError(
      .badData,
      "\(count) of the events \(count == 1 ? "is" : "are") in the store with other contents, the first: \"\(code)\"",
      detail: "Nothing was imported.",
      hint: "Choose another merge policy to overwrite or to keep them.")
  }

  private func writeImportRow(
    _ total: inout ImportReport, format: String, startedAt: Timestamp, complete: Bool
  ) throws {
    let counts: [Parameter] = [
      total.seen, total.inserted, total.updated, total.unchanged, total.rejected, total.duplicate,
      total.stale, total.bytes,
    ].map { .integer($0) }
    let rest: [Parameter] = [
      .text(total.generated?.description), .double(total.receiveDuration.inSeconds),
      .double(total.mergeDuration.inSeconds), .bool(complete),
    ]
    if let id = total.id {
      try connection.execute(
        """
        update quake.import
           set seen = $1, inserted = $2, updated = $3, unchanged = $4, rejected = $5, duplicate = $6,
               stale = $7, bytes = $8, generated = $9, receive_duration = make_interval(secs => $10),
               merge_duration = make_interval(secs => $11), complete = $12,
               finished_at = clock_timestamp()
         where id = $13
        """, counts + rest + [.integer(id)])
    } else {
      let result = try connection.execute(
        """
        insert into quake.import (
          seen, inserted, updated, unchanged, rejected, duplicate, stale, bytes, generated,
          receive_duration, merge_duration, complete, finished_at,
          source, feed, format, http_status, etag, last_modified, started_at, program)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, make_interval(secs => $10),
          make_interval(secs => $11), $12, clock_timestamp(), $13, $14, $15, $16, $17, $18, $19, $20)
        returning id
        """,
        counts + rest + [
          .text(options.source), .text(options.feed), .text(format),
          .integer(options.httpStatus.map { Int64($0) }), .text(options.etag),
          .text(options.lastModified), .text(startedAt.description), .text(options.program),
        ])
      total.id = result.integer(0, 0)
    }
    // The history's trigger reads this at commit; it believes it because this very transaction has
    // written the row.
    try connection.execute(
      "select set_config('quake.import', $1, true)", [.text(total.id.map { String($0) })])
  }

  private func storeRejects(of id: Int64?) throws {
    try connection.execute(
      """
      insert into quake.import_reject (import_id, record, place, reason, raw)
      select $1, record, reject_place, reject_reason, reject_raw
        from pg_temp.quake_staging where reject_reason is not null
      """, [.integer(id)])
  }

  private func readToken(_ total: inout ImportReport) throws {
    let result = try connection.execute(
      """
      select t.token, t.nonce from quake.import i join quake.change_transaction t using (token)
       where i.id = $1
      """, [.integer(total.id)])
    if result.rowCount == 1, let number = result.integer(0, 0), let nonce = result.text(0, 1) {
      total.token = ChangeToken(number: number, nonce: nonce)
    }
  }
}

extension CopyWriter {
  /// Writes the value a record has in a column.
  fileprivate mutating func value(of column: QuakeColumn, in record: QuakeRecord) throws {
    switch column.kind {
    case .text:
      try record.withUTF8(column) { utf8 in
        if let utf8 { try text(utf8) } else { try null() }
      }
    case .float8: if let value = record.double(column) { try float8(value) } else { try null() }
    case .int4:
      if let value = record.integer(column) { try int4(Int32(value)) } else { try null() }
    case .int2:
      if let value = record.integer(column) { try int2(Int16(value)) } else { try null() }
    case .timestamp:
      if let value = record.timestamp(column) {
        try timestamp(microseconds: value.microseconds)
      } else {
        try null()
      }
    case .bool: if let value = record.bool(column) { try bool(value) } else { try null() }
    }
  }
}
