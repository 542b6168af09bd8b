internal import Basics
public import Postgres
internal import QuakeAssociation
internal import QuakeHistory
public import QuakeModel

/// Imports the records of a source. An event that did not change is not written.
///
/// There are two ways, between which an `ImportPlan` chooses. A snapshot that is judged, that shows which
/// events are missing, or whose age is unknown is staged whole and merged (`SnapshotImport`). Any other
/// source is imported batch by batch (`BulkImport`).
///
/// An import is one transaction, with its row in `quake.import`. With `commitEvery` it is several, and can
/// be repeated safely: events that are stored already are unchanged.
public struct Importer {
  /// Opens a source again from its first record, in place of the one that was being read, because the
  /// import was rolled back and begins anew.
  ///
  /// - Parameters:
  ///   - reason: Why, as the end of a sentence.
  ///   - source: The source.
  ///   - options: The import's options, for what depends on how the source was opened.
  public typealias Reopen<Source> = (
    _ reason: String, _ source: inout Source, _ options: inout ImportOptions
  ) throws -> Void

  private let connection: Connection
  private let options: ImportOptions
  private let helpers: [Connection]

  /// How often an import that commits more than once is repeated after a deadlock.
  private static let mostRepetitions = 10

  /// An importer that writes over `connection`. Nothing else may use the connection while it runs.
  ///
  /// - Parameter helpers: Further connections to the same database. An import that commits more than
  ///   once writes over all of them at the same time.
  public init(connection: Connection, options: ImportOptions, helpers: [Connection] = []) {
    self.connection = connection
    self.options = options
    self.helpers = helpers
  }

  /// Imports all records of the source. If the snapshot is worse than the options allow, it goes into
  /// quarantine instead, and the report says so.
  ///
  /// - Parameters:
  ///   - source: Where the records come from.
  ///   - reopen: Opens the source again. An import that may do so can take a faster way beside stored
  ///     events, which only the whole source can show to be the wrong one; and one that commits more than
  ///     once begins anew after a deadlock with another session. Nil: the source is read once.
  ///   - shouldStop: Asked between batches of an import that commits more than once, which can end
  ///     there; the report then says that the import is not complete.
  ///   - progress: Called now and then with the number of records read so far.
  ///   - beforeCommit: Called at the end of the transaction that ends the import, for what must be stored
  ///     together with the records; an error rolls the transaction back. Not called in a dry run.
  /// - Returns: The counts of the import.
  /// - Throws: `ImportRefusal` if every record is rejected, the policy forbids what was found, or simulated
  ///   events would be stored beside others;
  ///   `PostgresError`; any error of the source. The open transaction is rolled back first.
  public func run<Source: ImportSource>(
    from source: inout Source, reopen: Reopen<Source>? = nil,
    shouldStop: () -> Bool = { false }, progress: (Int64) -> Void = { _ in },
    beforeCommit: (ImportReport) throws -> Void = { _ in }
  ) throws -> ImportReport {
    var options = options
    var repetitions = 0
    while true {
      do {
        return try Importer(connection: connection, options: options, helpers: helpers).attempt(
          from: &source, reopen, shouldStop, progress, beforeCommit)
      } catch let error as PostgresError
        where error.sqlState == SQLState.deadlockDetected && options.commitEvery != nil
        && repetitions < Self.mostRepetitions
      {
        guard let reopen else { throw error }
        repetitions += 1
        try reopen("another session was writing the same events", &source, &options)
      }
    }
  }

  private func attempt<Source: ImportSource>(
    from source: inout Source, _ reopen: Reopen<Source>?, _ shouldStop: () -> Bool,
    _ progress: (Int64) -> Void, _ beforeCommit: (ImportReport) throws -> Void
  ) throws -> ImportReport {
    let startedAt = Timestamp.now()
    // After its first record a source knows its columns. A source that cannot be read never reaches the
    // database.
    var record = QuakeRecord()
    let first = try source.next(into: &record)
    var options = options
    // The names of the simulator's feeds are those of USGS's.
    if case .record = first, record.isSimulated {
      options.scope?.source = "\(CatalogueCode.simulated)"
    }
    let importer = Importer(connection: connection, options: options, helpers: helpers)
    guard !options.mixesSimulated else {
      return try importer.run(
        from: &source, first, &record, startedAt, reopen, shouldStop, progress, beforeCommit)
    }
    var unmixed = try UnmixedSource(source, first: first, record, over: connection)
    defer { source = unmixed.base }
    let reopenUnmixed: Reopen<UnmixedSource<Source>>? = reopen.map { reopen in
      { reason, unmixed, options in try reopen(reason, &unmixed.base, &options) }
    }
    return try importer.run(
      from: &unmixed, first, &record, startedAt, reopenUnmixed, shouldStop, progress, beforeCommit)
  }

  /// Imports all records of the source, of which the first has been read.
  private func run<Source: ImportSource>(
    from source: inout Source, _ first: ImportItem?, _ record: inout QuakeRecord,
    _ startedAt: Timestamp, _ reopen: Reopen<Source>?, _ shouldStop: () -> Bool,
    _ progress: (Int64) -> Void, _ beforeCommit: (ImportReport) throws -> Void
  ) throws -> ImportReport {
    let plan = try ImportPlan(
      for: source, isEmpty: first == nil, access: reopen == nil ? .readableOnce : .reopenable,
      options: options, connections: 1 + helpers.count,
      isStoreEmpty: connection.row(ImportStatements.isStoreEmpty, as: Bool.self))
    var report: ImportReport
    switch plan.way {
    case .snapshot:
      report = try importStaged(
        atMost: .max, from: &source, first, &record, startedAt, plan, shouldStop, progress,
        beforeCommit)
    case .bulk(.afterSnapshot(let records)):
      report = try importStaged(
        atMost: records, from: &source, first, &record, startedAt, plan, shouldStop, progress,
        beforeCommit)
    case .bulk(let start):
      let generated = SnapshotImport.age(of: source, options)
      report = try OptimisticBulkImport(
        connection: connection, options: options, start: start,
        row: ImportRecord(
          options: options, format: source.format, startedAt: startedAt,
          scope: SnapshotScope(options.scope, generated: generated)),
        reopen: reopen
      ).run(
        from: &source, first: first, record: &record, generated: generated, progress: progress,
        beforeCommit: beforeCommit)
    }
    if options.dryRun {
      report.id = nil
      report.isComplete = true
    } else {
      try readToken(&report)
    }
    return report
  }

  /// Imports the first records like a snapshot, and what follows them in batches: in the same transaction,
  /// or in others where the import commits more than once.
  private func importStaged(
    atMost limit: Int64, from source: inout some ImportSource, _ first: ImportItem?,
    _ record: inout QuakeRecord, _ startedAt: Timestamp, _ plan: ImportPlan,
    _ shouldStop: () -> Bool, _ progress: (Int64) -> Void,
    _ beforeCommit: (ImportReport) throws -> Void
  ) throws -> ImportReport {
    let row = ImportRecord(
      options: options, format: source.format, startedAt: startedAt, scope: nil)
    var total = ImportReport()
    var next: ImportItem?
    try connection.importTransaction(dryRun: options.dryRun) {
      next = try SnapshotImport(connection: connection, options: options, startedAt: startedAt)
        .run(
          atMost: limit, from: &source, lookahead: first, record: &record, &total,
          progress: progress)
      if plan.commits == .onceAtTheEnd, next != nil {
        try importRest(
          of: &source, from: next, &record, row, over: [connection], &total, plan, shouldStop,
          progress)
        try row.write(&total, complete: true, over: connection)
      }
    } beforeCommit: {
      if total.isComplete { try beforeCommit(total) }
    }
    guard !total.isComplete, !options.dryRun else { return total }
    try importRest(
      of: &source, from: next, &record, row, over: [connection] + helpers, &total, plan, shouldStop,
      progress)
    try connection.transaction {
      try row.write(&total, complete: total.isComplete, over: connection)
      if total.isComplete { try beforeCommit(total) }
    }
    return total
  }

  /// Imports the records after the first ones.
  private func importRest(
    of source: inout some ImportSource, from next: ImportItem?, _ record: inout QuakeRecord,
    _ row: ImportRecord, over connections: [Connection], _ total: inout ImportReport,
    _ plan: ImportPlan, _ shouldStop: () -> Bool, _ progress: (Int64) -> Void
  ) throws {
    total = try BulkImport(
      connections: connections, options: options, columns: source.columns,
      inferred: source.inferredColumns, record: row, total: total,
      start: .afterSnapshot(records: total.seen), commits: plan.commits
    ).run(
      from: &source, lookahead: next, record: &record, shouldStop: shouldStop, progress: progress)
  }

  private func readToken(_ total: inout ImportReport) throws {
    let stored = try connection.firstRow(
      """
      select t.token || '.' || t.nonce, s.enabled
        from quake.import i join quake.change_transaction t using (token)
       cross join quake.association_settings s
       where i.id = \(total.id)
      """, as: (ChangeToken, Bool).self)
    guard let (token, associates) = stored else { return }
    total.token = token
    // In a transaction of its own: this one would hold back the imports of other sources.
    if associates {
      try Associations(connection: connection, author: options.author).updateAfterChange()
    }
  }
}

extension Connection {
  private struct DryRun: Error {}

  /// Runs an import in a transaction. A dry run is rolled back, and `beforeCommit` is not called.
  func importTransaction(
    dryRun: Bool, _ body: () throws -> Void, beforeCommit: () throws -> Void
  ) throws {
    do {
      try transaction {
        try ImportStatements.dropStaging(over: self)
        try body()
        if dryRun { throw DryRun() }
        try beforeCommit()
      }
    } catch is DryRun {}
  }
}
