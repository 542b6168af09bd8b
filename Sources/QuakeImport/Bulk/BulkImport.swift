internal import Postgres
internal import QuakeModel
internal import SystemClock

/// Brings in a source that need not be looked at as a whole, or what follows its first records: portion
/// by portion, over one connection or several, while the next portion is being decoded.
///
/// Over one connection that is part of the transaction that is open there. Over several, and wherever
/// there are commits on the way, each has transactions of its own. Two that are open at the same time
/// never hold the same id, so that they neither wait for each other nor overwrite what comes later.
final class BulkImport {
  /// A connection, and what has been done in its open transaction.
  private final class Lane {
    let lane: ImportThread
    let work: BulkWriter
    var isOpen = false
    var report = ImportReport()
    var keys: Set<UInt64> = []
    /// The portion that is under way.
    var portion: RecordBatch?
    /// Whether the transaction ends with it.
    var ends = false

    init(_ connection: Connection, _ work: BulkWriter) {
      lane = ImportThread(connection)
      self.work = work
    }
  }

  /// So many records a transaction holds at most where there are several: their ids are remembered.
  private static let mostInParallel: Int64 = 65_536
  /// So much memory all portions together take at most: one for each connection, and the one that is being
  /// filled. What a COPY costs besides its rows is a fifth of the time with half a megabyte.
  private static let mostBytes = 6 * 1024 * 1024
  /// A portion has an eighth of what was read before it, and at least this: where a source is short, its
  /// last portion is not to keep the server busy for long after all is decoded.
  private static let leastPortionBytes = 768 * 1024

  private let lanes: [Lane]
  private let columns: [QuakeColumn]
  private let record: ImportRecord
  /// Commit after so many records; nil: the transaction is the caller's.
  private let commitEvery: Int64?
  /// What is known of the ids of a source that is brought in by portions from its beginning, for as many
  /// records as a feed has.
  private var ids: IDClaimTracker?
  private var repeated: Int64 = 0
  private let storeWasEmpty: Bool
  private var total: ImportReport
  private var spare: [RecordBatch] = []
  private let mostPortionBytes: Int
  /// What all portions had together so far.
  private var bytes = 0

  /// - Parameters:
  ///   - connections: The first is the one that the first records were brought in over.
  ///   - total: What has been done so far, with the import's id; nothing if it is to bring in all of the
  ///     source, in one transaction.
  ///   - storeWasEmpty: Whether there were no events before.
  init(
    connections: [Connection], options: ImportOptions, columns: [QuakeColumn],
    record: ImportRecord, total: ImportReport, storeWasEmpty: Bool
  ) throws {
    ids = total.seen == 0 ? IDClaimTracker() : nil
    self.storeWasEmpty = storeWasEmpty
    self.columns = columns
    self.record = record
    self.total = total
    let most = connections.count > 1 ? Self.mostInParallel : .max
    commitEvery = options.dryRun ? nil : options.commitEvery.map { min(Int64($0), most) }
    var isLate = true
    if let generated = total.generated {
      let state = try connections[0].execute(
        ImportStatements.state, [.text(generated.description)])
      isLate = state.bool(0, 0) ?? true
    }
    let settlesAtEnd = storeWasEmpty && commitEvery == nil
    mostPortionBytes = Self.mostBytes / (connections.count + 1)
    lanes = connections.map { connection in
      Lane(
        connection,
        BulkWriter(
          connection: connection, options: options, columns: columns, total: total,
          mayCopy: !isLate, expectsNew: storeWasEmpty || Self.isNew(total),
          mayNeedOrder: total.seen == 0 && !storeWasEmpty,
          settlesAtEnd: settlesAtEnd))
    }
  }

  /// Whether the first records were all new.
  private static func isNew(_ first: ImportReport) -> Bool {
    first.seen > 0 && first.inserted == first.seen - first.rejected - first.duplicate
  }

  deinit {
    for lane in lanes { lane.lane.close() }
  }

  /// Brings in the rest of the source, or what comes before it is told to stop. Returns the counts of the
  /// whole import; `isComplete` says whether that is all.
  func run(
    from source: inout some ImportSource, lookahead: ImportItem, record: inout QuakeRecord,
    shouldStop: () -> Bool, progress: (Int64) -> Void
  ) throws -> ImportReport {
    var item: ImportItem? = lookahead
    var read = total.seen
    var turn = 0
    var rejects = RejectBudget(after: total)
    do {
      while item != nil, commitEvery == nil || !shouldStop() {
        let lane = lanes[turn % lanes.count]
        turn += 1
        let portion =
          spare.popLast() ?? RecordBatch(columns: columns, capacity: mostPortionBytes)
        let begun = MonotonicClock.now()
        item = try portion.fill(
          from: &source, lookahead: item, record: &record, limit: room(on: lane),
          bytes: min(max(bytes / 8, Self.leastPortionBytes), mostPortionBytes),
          budget: &rejects)
        bytes += portion.bytes
        total.receiveDuration += MonotonicClock.now() - begun
        total.bytes = source.bytesRead
        let claims = try takeNote(of: portion, isLast: item == nil)
        try finish(lane)
        for other in lanes where other !== lane && !other.keys.isDisjoint(with: portion.keys) {
          try commit(other)
        }
        start(portion, claims, on: lane, first: read + 1)
        read += portion.seen
        progress(read)
      }
      for lane in lanes { try commit(lane) }
    } catch {
      for lane in lanes { abandon(lane) }
      throw error
    }
    total.isComplete = item == nil
    rejects.note(in: &total)
    guard repeated > 0 else { return total }
    // They were counted as what became of them.
    total.duplicate += repeated
    let others = total.seen - total.rejected - total.duplicate - total.inserted
    total.updated = min(total.updated, others)
    total.unchanged = others - total.updated
    return total
  }

  /// Holds back what the portion's events claim until it is known which of the ids are events of their
  /// own: to the end of the source, or for as long as a feed is. Returns what has been held back, then.
  private func takeNote(of portion: RecordBatch, isLast: Bool) throws -> [IDClaim] {
    guard ids != nil else { return [] }
    ids?.add(portion)
    guard let known = ids else { return [] }
    // The first would be written although the last counts.
    if known.repeated > 0, !storeWasEmpty {
      throw OrderNeeded(reason: "an event is in it more than once")
    }
    guard isLast || known.isFull else { return [] }
    ids = nil
    repeated = known.repeated
    return known.claims
  }

  /// How many records the lane's open transaction still takes, or the next one.
  private func room(on lane: Lane) -> Int64 {
    guard let commitEvery else { return .max }
    let left = commitEvery - lane.report.seen - (lane.portion?.seen ?? 0)
    return left > 0 ? left : commitEvery
  }

  /// - Parameter claims: Ids that events of this portion and of earlier ones claim.
  private func start(
    _ portion: RecordBatch, _ claims: [IDClaim], on lane: Lane, first: Int64
  ) {
    let begins = !lane.isOpen
    let commits = commitEvery != nil
    let before = lane.report
    lane.isOpen = true
    lane.portion = portion
    lane.ends = commitEvery.map { before.seen + portion.seen >= $0 } ?? false
    if lanes.count > 1 { lane.keys.formUnion(portion.keys) }
    let ends = lane.ends
    // Not `self`: the thread must not be the last to let go of what waits for its end.
    let (work, connection, record) = (lane.work, lane.lane.connection, record)
    lane.lane.start {
      if begins {
        if commits { try connection.begin() }
        try work.prepareTransaction()
      }
      var report = try work.bringIn(portion, first: first)
      if !claims.isEmpty { report.add(try work.settle(claims)) }
      if ends { report = try Self.end(before, report, record, work, connection) }
      return report
    }
  }

  /// Ends a transaction of the import's own, in which `before` and `latest` were done; gives `latest`
  /// with what was still to be merged.
  private static func end(
    _ before: ImportReport, _ latest: ImportReport, _ record: ImportRecord, _ work: BulkWriter,
    _ connection: Connection
  ) throws -> ImportReport {
    var latest = latest
    latest.add(try work.finish())
    var all = before
    all.add(latest)
    try record.add(all, to: work.importID, over: connection)
    try connection.commit()
    return latest
  }

  /// Waits for the work under way, and takes what it has to tell.
  private func finish(_ lane: Lane) throws {
    guard let portion = lane.portion else { return }
    if let report = try lane.lane.finish() { lane.report.add(report) }
    lane.portion = nil
    portion.removeAll()
    spare.append(portion)
    if lane.ends { close(lane) }
  }

  private func close(_ lane: Lane) {
    total.add(lane.report)
    lane.report = ImportReport()
    lane.keys.removeAll(keepingCapacity: true)
    lane.isOpen = false
    lane.ends = false
  }

  /// Ends the lane's transaction; one that is the caller's stays open.
  private func commit(_ lane: Lane) throws {
    try finish(lane)
    guard lane.isOpen else { return }
    let rest =
      commitEvery == nil
      ? try lane.work.finish()
      : try Self.end(lane.report, ImportReport(), record, lane.work, lane.lane.connection)
    lane.report.add(rest)
    close(lane)
  }

  private func abandon(_ lane: Lane) {
    _ = try? lane.lane.finish()
    if commitEvery != nil, lane.isOpen { _ = try? lane.lane.connection.rollback() }
  }
}
