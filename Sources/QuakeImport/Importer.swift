internal import Basics
public import Postgres
internal import QuakeHistory
public import QuakeModel
internal import QuakeQuery

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
    try withoutActuallyEscaping(shouldStop) { shouldStop in
      try withoutActuallyEscaping(progress) { progress in
        try withoutActuallyEscaping(beforeCommit) { beforeCommit in
          try run(
            from: &source,
            ImportCallbacks(
              reopen: reopen, shouldStop: shouldStop, progress: progress,
              beforeCommit: beforeCommit))
        }
      }
    }
  }

  private func run<Source: ImportSource>(
    from source: inout Source, _ callbacks: ImportCallbacks<Source>
  ) throws -> ImportReport {
    if let every = options.commitEvery, every < 1 {
      throw StoreError(
        .usage, "an import cannot commit after every \(every) records",
        hint: "Give a number from 1 on, or none for an import in one transaction.")
    }
    var options = options
    var repetitions = 0
    while true {
      do {
        var run = ImportRun(
          of: source, connections: [connection] + helpers, options: options, callbacks)
        defer { source = run.reader.source }
        return try run.run()
      } catch let error as PostgresError
        where error.sqlState == SQLState.deadlockDetected && options.commitEvery != nil
        && repetitions < Self.mostRepetitions
      {
        guard let reopen = callbacks.reopen else { throw error }
        repetitions += 1
        try reopen("another session was writing the same events", &source, &options)
      }
    }
  }
}

/// What an import calls; see `Importer.run`.
struct ImportCallbacks<Source> {
  /// Nil: the source is read once.
  let reopen: Importer.Reopen<Source>?
  let shouldStop: () -> Bool
  let progress: (Int64) -> Void
  let beforeCommit: (ImportReport) throws -> Void
}

/// One attempt to import a source.
struct ImportRun<Source: ImportSource> {
  private(set) var reader: ImportReader<Source>
  /// The first one writes; an import that commits more than once writes over all of them.
  private let connections: [Connection]
  private var options: ImportOptions
  private let callbacks: ImportCallbacks<Source>
  private let startedAt = Timestamp.now()
  /// Whether a source of any length is imported like a snapshot.
  private var isWhole = false

  private var connection: Connection { connections[0] }

  init(
    of source: Source, connections: [Connection], options: ImportOptions,
    _ callbacks: ImportCallbacks<Source>
  ) {
    reader = ImportReader(source)
    self.connections = connections
    self.options = options
    self.callbacks = callbacks
  }

  mutating func run() throws -> ImportReport {
    // After its first record a source knows its columns. A source that cannot be read never reaches the
    // database.
    try reader.advance()
    // The names of the simulator's feeds are those of USGS's.
    if reader.currentRecord?.isSimulated == true {
      options.scope?.source = "\(CatalogueCode.simulated)"
    }
    if !options.mixesSimulated { try reader.refuseMixture(over: connection) }
    let plan = try ImportPlan(
      for: reader.source, isEmpty: reader.item == nil,
      access: callbacks.reopen == nil ? .readableOnce : .reopenable, options: options,
      connections: connections.count,
      isStoreEmpty: connection.row(ImportStatements.isStoreEmpty, as: Bool.self))
    var report =
      switch plan.way {
      case _ where isWhole: try importStaged(atMost: .max, plan.commits)
      case .snapshot: try importStaged(atMost: .max, plan.commits)
      case .bulk(.afterSnapshot(let records)): try importStaged(atMost: records, plan.commits)
      case .bulk(let start): try importInBatches(start)
      }
    if options.dryRun {
      report.id = nil
      report.isComplete = true
    } else {
      try readToken(&report)
    }
    return report
  }

  private func row(_ scope: SnapshotScope?) -> ImportRecord {
    ImportRecord(
      options: options, format: reader.source.format, startedAt: startedAt, scope: scope)
  }

  /// Imports the first records like a snapshot, and what follows them in batches: in the same transaction,
  /// or in others where the import commits more than once.
  private mutating func importStaged(
    atMost limit: Int64, _ commits: ImportPlan.Commits
  ) throws -> ImportReport {
    let row = row(nil)
    var total = ImportReport()
    try connection.importTransaction(dryRun: options.dryRun) {
      try SnapshotImport(connection: connection, options: options, startedAt: startedAt)
        .run(atMost: limit, from: &reader, &total, progress: callbacks.progress)
      if commits == .onceAtTheEnd, reader.item != nil {
        try importRest(row, over: [connection], &total, commits)
        try row.write(&total, complete: true, over: connection)
      }
    } beforeCommit: {
      if total.isComplete { try callbacks.beforeCommit(total) }
    }
    guard !total.isComplete, !options.dryRun else { return total }
    try importRest(row, over: connections, &total, commits)
    try connection.transaction {
      try row.write(&total, complete: total.isComplete, over: connection)
      if total.isComplete { try callbacks.beforeCommit(total) }
    }
    return total
  }

  private mutating func importRest(
    _ row: ImportRecord, over connections: [Connection], _ total: inout ImportReport,
    _ commits: ImportPlan.Commits
  ) throws {
    total = try BulkImport(
      of: reader.source, row, over: connections, after: total,
      start: .afterSnapshot(records: total.seen), commits: commits
    ).run(from: &reader, shouldStop: callbacks.shouldStop, progress: callbacks.progress)
  }

  /// Imports the source in batches from its first record, in one transaction, although only the whole source
  /// shows whether batches are enough.
  ///
  /// Batches are not enough if a code occurs again, if a rejected record is of an event that is counted as
  /// missing, or if another session writes the same events and the two end in a deadlock. Then the
  /// transaction is rolled back, the source is opened again, and a snapshot import begins, which writes the
  /// events in the order of their codes; if a code occurs again, of the whole source, so that only the last
  /// record counts. All of that is rare, and batches are faster. A source that cannot be
  /// opened again is imported so only into an empty store, and a deadlock ends it.
  private mutating func importInBatches(_ start: BulkStart) throws -> ImportReport {
    var total = ImportReport()
    total.generated = SnapshotImport.age(of: reader.source, options)
    let row = row(SnapshotScope(options.scope, generated: total.generated))
    do {
      try connection.importTransaction(dryRun: options.dryRun) {
        try row.write(&total, complete: false, over: connection)
        do {
          total = try BulkImport(
            of: reader.source, row, over: [connection], after: total, start: start,
            commits: .onceAtTheEnd
          ).run(from: &reader, shouldStop: { false }, progress: callbacks.progress)
        } catch let error as PostgresError
          where error.sqlState == SQLState.deadlockDetected && callbacks.reopen != nil
        {
          throw WholeSourceNeeded(reason: "another session was writing the same events")
        }
        try ImportRefusal.throwIfAllRejected(total)
        try row.write(&total, complete: true, over: connection)
      } beforeCommit: {
        try callbacks.beforeCommit(total)
      }
      return total
    } catch let needed as WholeSourceNeeded {
      guard let reopen = callbacks.reopen else { throw needed }
      var options = options
      try reopen(needed.reason, &reader.source, &options)
      var run = ImportRun(
        of: reader.source, connections: [connection], options: options,
        ImportCallbacks(
          reopen: nil, shouldStop: { false }, progress: callbacks.progress,
          beforeCommit: callbacks.beforeCommit))
      run.isWhole = needed.ofAnyLength
      defer { reader.source = run.reader.source }
      return try run.run()
    }
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

/// Thrown by a bulk import beside stored events when batches are not enough. Only `ImportRun` catches it.
struct WholeSourceNeeded: Error {
  /// Why, as the end of a sentence.
  let reason: String
  /// Whether a source that is longer than a feed is needed whole, too.
  var ofAnyLength = false
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
