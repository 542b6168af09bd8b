internal import Basics
internal import Postgres
internal import QuakeModel

/// Stages the records of a source, judges them together, and merges them, in the transaction that is open.
struct SnapshotImport {
  let connection: Connection
  let options: ImportOptions
  let startedAt: Timestamp

  /// The most seconds by which the clock of a feed's server may be ahead of this machine's.
  static let clockTolerance: Int64 = 3600

  /// When the snapshot was generated; nil: unknown. It is never in the future: a snapshot from there would be newer than
  /// all that follow, and these would be ignored. A time that is so far in the future that no clock explains it
  /// tells nothing; dated to the present, such snapshots would win over honest ones that take a minute to arrive.
  static func age(of source: some ImportSource, _ options: ImportOptions) -> Timestamp? {
    let now = Timestamp.now()
    guard let stated = source.generated ?? options.generated,
      stated <= now.advanced(bySeconds: clockTolerance)
    else { return nil }
    return min(stated, now)
  }

  /// Imports records, or puts the snapshot into quarantine.
  ///
  /// - Parameter limit: The most records. A source that has no more of them is a snapshot; it is judged if
  ///   the options have limits.
  func run(
    atMost limit: Int64, from reader: inout ImportReader<some ImportSource>,
    _ total: inout ImportReport, progress: (Int64) -> Void
  ) throws {
    try connection.execute(ImportStatements.createStaging)
    let staging = ImportStaging(
      connection: connection, columns: reader.source.columns, limit: limit)
    var batch = ImportReport()
    var ids = IDClaimTracker()
    let begun = MonotonicClock.now()
    try staging.stage(from: &reader, before: total, batch: &batch, ids: &ids, progress: progress)
    batch.receiveDuration = MonotonicClock.now() - begun
    total.bytes = reader.source.bytesRead
    // Many sources state their age at the end.
    total.generated = Self.age(of: reader.source, options)
    let isWhole = reader.item == nil
    try mergeStaged(&batch, of: reader.source, ids, isWhole: isWhole, total: &total)
    total.isComplete = isWhole
  }

  /// Judges and merges the staged records, and records what was done.
  private func mergeStaged(
    _ batch: inout ImportReport, of source: some ImportSource, _ ids: IDClaimTracker,
    isWhole: Bool, total: inout ImportReport
  ) throws {
    let begun = MonotonicClock.now()
    let scope = isWhole ? SnapshotScope(options.scope, generated: total.generated) : nil
    var merge = ImportMerge(
      connection: connection, options: options, columns: source.columns,
      inferred: source.inferredColumns, generated: total.generated, scope: scope)
    merge.hasDeletions = ids.hasDeletions
    try merge.prepare(&batch, mayHaveDuplicates: ids.mayHaveDuplicates)
    let rejectedBefore = batch.rejected
    if isWhole {
      total.quarantine = try judge(total.generated, stated: source.generated, &batch)
    }
    // Records that the judge rejects claim no ids, and other events may claim theirs.
    if batch.rejected == rejectedBefore, !ids.mayHaveDuplicates { merge.claims = ids.claims }
    if total.quarantine == nil {
      // A part of a longer source may well have nothing but rejects.
      if isWhole {
        var all = total
        all.add(batch)
        try ImportRefusal.throwIfAllRejected(all)
      }
      let rejectedBefore = batch.rejected
      try merge.merge(&batch)
      if isWhole, batch.rejected > rejectedBefore {
        var all = total
        all.add(batch)
        try ImportRefusal.throwIfAllRejected(all)
      }
    } else {
      batch.unchanged = batch.seen - batch.rejected - batch.duplicate
    }
    batch.mergeDuration = MonotonicClock.now() - begun
    total.add(batch)
    let record = ImportRecord(
      options: options, format: source.format, startedAt: startedAt, scope: scope)
    if total.quarantine == nil {
      try record.write(&total, complete: isWhole, over: connection)
      if batch.rejected > 0 { try RejectStore.store(&total, over: connection) }
      // The history's trigger reads this at commit. It trusts the setting because this transaction has
      // written the row.
      try connection.execute(
        "select set_config('quake.import', \(total.id.map { "\($0)" }), true)")
    } else {
      try Quarantine(connection: connection).setAside(&total, record, source: source)
    }
    if let limits = options.limits {
      try Quarantine(connection: connection).purge(olderThan: limits.keptFor)
    }
  }

  private func judge(
    _ generated: Timestamp?, stated: Timestamp?, _ batch: inout ImportReport
  ) throws -> QuarantineVerdict? {
    guard let limits = options.limits else { return nil }
    let judge = SnapshotJudge(
      limits: limits, feed: options.feed, scope: options.scope, generated: generated,
      stated: stated, firstReject: batch.firstReject?.reason, connection: connection)
    let (verdict, rejected) = try judge.judge()
    batch.rejected += rejected
    if rejected > 0, batch.firstReject == nil {
      batch.firstReject = ImportReject(
        place: "among others", reason: "Its times make no sense.", raw: "")
    }
    return verdict
  }
}
