public import Postgres
public import QuakeModel
internal import SystemClock

/// Brings the records of a source into the store. What did not change is not written.
///
/// What has to be looked at as a whole (a snapshot that is judged, or that tells who is missing, or whose
/// age nobody knows) is copied into a temporary table, and then there is one guarded insert-or-update of
/// what is new or different. Anything else is brought in by portions (`BulkImport`).
///
/// An import is one transaction: all of it or nothing, with its row in `quake.import`. With
/// `commitEvery` it is one for each batch, and can be repeated safely: what is already there is
/// unchanged.
public struct Importer {
  private let connection: Connection
  private let options: ImportOptions
  private let helpers: [Connection]

  /// An importer that writes over `connection`, which it uses alone while it runs.
  ///
  /// - Parameter helpers: Further connections to the same database, over which records are brought in
  ///   at the same time, if the import commits on the way.
  public init(connection: Connection, options: ImportOptions, helpers: [Connection] = []) {
    self.connection = connection
    self.options = options
    self.helpers = helpers
  }

  private struct DryRun: Error {}

  /// Imports everything the source has; or, if the snapshot is worse than the options allow, sets it
  /// aside, which the report says.
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
  ///   was found; `OrderNeeded` if the options do not ask for order, but the records do;
  ///   `PostgresError`; whatever the source throws. Then nothing of the transaction under way stays.
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
    let rest = ImportRecord(
      options: options, format: source.format, startedAt: startedAt, scope: nil)
    var total = ImportReport()
    do {
      try connection.transaction {
        try ImportStatements.forgetStaging(over: connection)
        total.generated = age(of: source)
        if let first = lookahead, case .portions(let storeWasEmpty) = try way(of: source) {
          try importByPortions(
            from: &source, first, &record, startedAt: startedAt, storeWasEmpty: storeWasEmpty,
            &total, shouldStop, progress)
        } else {
          lookahead = try importFirst(
            from: &source, lookahead, &record, startedAt: startedAt, &total, progress)
          if !commitsOnTheWay, let first = lookahead {
            try importRest(
              of: &source, from: first, &record, rest, over: [connection], &total, shouldStop,
              progress)
            try rest.write(&total, complete: true, over: connection)
          }
        }
        if options.dryRun { throw DryRun() }
        if total.isComplete { try beforeCommit(total) }
      }
      if !total.isComplete, let first = lookahead {
        try importRest(
          of: &source, from: first, &record, rest, over: [connection] + helpers, &total, shouldStop,
          progress)
        try connection.transaction {
          try rest.write(&total, complete: total.isComplete, over: connection)
          if total.isComplete { try beforeCommit(total) }
        }
      }
    } catch is DryRun {
      total.id = nil
      total.isComplete = true
      return total
    }
    try readToken(&total)
    return total
  }

  private var commitsOnTheWay: Bool { options.commitEvery != nil && !options.dryRun }

  /// The services cut feeds off at this many: what is longer is a catalogue, and brought in by portions.
  static let longestFeed: Int64 = 20_000

  /// How many records are staged at once: a snapshot that is judged, or may yet say of when it is, whole.
  private func firstLimit(of source: some ImportSource) -> Int64 {
    if let every = options.commitEvery, commitsOnTheWay {
      return min(Int64(every), Self.longestFeed)
    }
    let isOfKnownAge =
      source.generated != nil || options.generated != nil || !source.mayTellGenerated
    return options.limits == nil && isOfKnownAge ? Self.longestFeed : .max
  }

  /// No snapshot is of the future: one that says so would hold back all that follow.
  private func age(of source: some ImportSource) -> Timestamp? {
    (source.generated ?? options.generated).map { min($0, .now()) }
  }

  /// How the first records of a source are brought in.
  private enum Way {
    /// Staged and merged together.
    case staged
    /// By portions, with or without events that they have to be compared with.
    case portions(storeWasEmpty: Bool)
  }

  private func way(of source: some ImportSource) throws -> Way {
    guard firstLimit(of: source) == Self.longestFeed, !commitsOnTheWay,
      // What is said further on counts more than what is known from elsewhere.
      source.generated != nil || !source.mayTellGenerated, let generated = age(of: source),
      options.policy == .incoming || options.policy == .always
    else { return .staged }
    if try connection.execute(ImportStatements.isStoreEmpty).bool(0, 0) == true {
      return .portions(storeWasEmpty: true)
    }
    // Who is missing is known at the end.
    guard !options.isOrdered, SnapshotScope(options.scope, generated: generated) == nil
    else { return .staged }
    return .portions(storeWasEmpty: false)
  }

  /// Brings in all of a source by portions, in the transaction that is open.
  private func importByPortions(
    from source: inout some ImportSource, _ first: ImportItem, _ record: inout QuakeRecord,
    startedAt: Timestamp, storeWasEmpty: Bool, _ total: inout ImportReport,
    _ shouldStop: () -> Bool, _ progress: (Int64) -> Void
  ) throws {
    let row = ImportRecord(
      options: options, format: source.format, startedAt: startedAt,
      scope: SnapshotScope(options.scope, generated: total.generated))
    try row.write(&total, complete: false, over: connection)
    do {
      try importRest(
        of: &source, from: first, &record, row, over: [connection], &total, shouldStop, progress,
        storeWasEmpty: storeWasEmpty)
    } catch let error as PostgresError
      where error.sqlState == SQLState.deadlockDetected && !options.isOrdered
    {
      throw OrderNeeded(reason: "somebody else was writing the same events")
    }
    try refuseIfNothingIsUsable(in: total, and: ImportReport())
    try row.write(&total, complete: true, over: connection)
  }

  /// Stages the first records, all of them where it is a feed, and brings them in. Returns the first that
  /// did not fit.
  private func importFirst(
    from source: inout some ImportSource, _ lookahead: ImportItem?, _ record: inout QuakeRecord,
    startedAt: Timestamp, _ total: inout ImportReport, _ progress: (Int64) -> Void
  ) throws -> ImportItem? {
    try connection.execute(ImportStatements.createStaging)
    let staging = ImportStaging(
      connection: connection, columns: source.columns, limit: firstLimit(of: source))
    var batch = ImportReport()
    var ids = IDClaimTracker()
    let begun = MonotonicClock.now()
    let next = try staging.stage(
      from: &source, lookahead: lookahead, record: &record, before: total, batch: &batch,
      ids: &ids, progress: progress)
    batch.receiveDuration = MonotonicClock.now() - begun
    total.bytes = source.bytesRead
    total.generated = age(of: source)
    try bringIn(
      &batch, of: source, ids, startedAt: startedAt, isLast: next == nil, total: &total)
    total.isComplete = next == nil
    return next
  }

  /// Brings in what follows the first records.
  private func importRest(
    of source: inout some ImportSource, from first: ImportItem, _ record: inout QuakeRecord,
    _ row: ImportRecord, over connections: [Connection], _ total: inout ImportReport,
    _ shouldStop: () -> Bool, _ progress: (Int64) -> Void, storeWasEmpty: Bool = false
  ) throws {
    total = try BulkImport(
      connections: connections, options: options, columns: source.columns, record: row,
      total: total, storeWasEmpty: storeWasEmpty
    ).run(
      from: &source, lookahead: first, record: &record, shouldStop: shouldStop, progress: progress)
  }

  /// Judges and merges what is staged, and writes down what was done.
  private func bringIn(
    _ batch: inout ImportReport, of source: some ImportSource, _ ids: IDClaimTracker,
    startedAt: Timestamp, isLast: Bool, total: inout ImportReport
  ) throws {
    let begun = MonotonicClock.now()
    let isWhole = total.id == nil && isLast
    let scope = isWhole ? SnapshotScope(options.scope, generated: total.generated) : nil
    var merge = ImportMerge(
      connection: connection, options: options, columns: source.columns,
      generated: total.generated, scope: scope)
    try merge.prepare(&batch, mayHaveDuplicates: ids.mayHaveDuplicates)
    let rejectedBefore = batch.rejected
    if isWhole {
      total.quarantine = try judge(total.generated, saysWhen: source.generated != nil, &batch)
    }
    // What the judge has rejected claims nothing, and is none that others could not claim.
    if batch.rejected == rejectedBefore, !ids.mayHaveDuplicates { merge.claims = ids.claims }
    if total.quarantine == nil {
      if isLast { try refuseIfNothingIsUsable(in: total, and: batch) }
      try merge.merge(&batch)
    } else {
      batch.unchanged = batch.seen - batch.rejected - batch.duplicate
    }
    batch.mergeDuration = MonotonicClock.now() - begun
    total.add(batch)
    let record = ImportRecord(
      options: options, format: source.format, startedAt: startedAt, scope: scope)
    if total.quarantine == nil {
      try record.write(&total, complete: isLast, over: connection)
      if batch.rejected > 0 { try RejectStore.store(&total, over: connection) }
      // The history's trigger reads this at commit; it believes it because this very transaction has
      // written the row.
      try connection.execute(
        "select set_config('quake.import', $1, true)", [.text(total.id.map { String($0) })])
    } else {
      try Quarantine(connection: connection).setAside(&total, record, source: source)
    }
    if let limits = options.limits {
      try Quarantine(connection: connection).purge(olderThan: limits.keptFor)
    }
  }

  private func judge(
    _ generated: Timestamp?, saysWhen: Bool, _ batch: inout ImportReport
  ) throws -> QuarantineVerdict? {
    guard let limits = options.limits else { return nil }
    let judge = SnapshotJudge(
      limits: limits, feed: options.feed, scope: options.scope, generated: generated,
      saysWhen: saysWhen, firstReject: batch.firstReject?.reason, connection: connection)
    let (verdict, rejected) = try judge.judge()
    batch.rejected += rejected
    if rejected > 0, batch.firstReject == nil {
      batch.firstReject = ImportReject(
        place: "among others", reason: "Its times make no sense.", raw: "")
    }
    return verdict
  }

  /// At the end of the source: a single batch may well have nothing but rejects.
  private func refuseIfNothingIsUsable(
    in earlier: ImportReport, and last: ImportReport
  ) throws {
    var report = earlier
    report.add(last)
    guard report.seen > 0, report.rejected == report.seen, let first = report.firstReject
    else { return }
    report.id = nil
    report.isComplete = false
    throw ImportRefusal(
      report.seen == 1
        ? "the only record was rejected: \(first.place): \(first.reason)"
        : "all \(report.seen) records were rejected, the first: \(first.place): \(first.reason)",
      hint: "Check that this is an earthquake feed in a form this program reads.",
      report: report)
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
