internal import Basics
internal import Postgres
internal import QuakeModel

/// Imports a source, or the part of it that follows its first records, batch by batch, over one connection
/// or several, while the next batch is being decoded.
///
/// An import that commits once writes in the transaction that is open. An import that commits more than
/// once has transactions of its own, one at a time on each connection. Two open transactions never hold
/// the same id, so that the last record of a code wins. But they may write other stored events that have such an id:
/// `wait` sees to it that none waits for another.
final class BulkImport {
  /// A connection with its thread, and what has been done in its open transaction.
  private final class WriterThread {
    let thread: ImportThread
    let writer: BulkWriter
    var isOpen = false
    var report = ImportReport()
    var keys: Set<UInt64> = []
    /// Whether it has work of which the result is not known yet.
    var isBusy = false
    var batch: RecordBatch?
    /// Whether the transaction ends with the present work.
    var ends = false

    init(_ connection: Connection, _ writer: BulkWriter) throws {
      thread = try ImportThread(connection)
      self.writer = writer
    }

    deinit { thread.close() }
  }

  /// The most memory of all batches together: one for each connection, and the one that is being filled.
  /// With half a megabyte, the fixed costs of a COPY are a fifth of its time.
  private static let mostBytes = 6 * 1024 * 1024
  /// The size of a batch is an eighth of what was read before it, but at least this. So the last batch of
  /// a short source does not keep the server busy for long after everything has been decoded.
  private static let leastBatchBytes = 768 * 1024

  private let threads: [WriterThread]
  private let columns: [EventColumn]
  private let record: ImportRecord
  private let start: BulkStart
  private let commits: ImportPlan.Commits
  /// The ids of a source that is imported in batches from its first record, until it is longer than a feed.
  private var ids: IDClaimTracker?
  private var repeated: Int64 = 0
  private var total: ImportReport
  private var spare: [RecordBatch] = []
  private let mostBatchBytes: Int
  /// The size of all batches so far.
  private var bytes = 0

  /// - Parameters:
  ///   - source: The source, which knows its columns.
  ///   - record: The row of the import.
  ///   - connections: Connections to write over. The first has written the first records, if there were
  ///     any before.
  ///   - total: What has been done so far, with the number of the import.
  init(
    of source: some ImportSource, _ record: ImportRecord, over connections: [Connection],
    after total: ImportReport, start: BulkStart, commits: ImportPlan.Commits
  ) throws {
    columns = source.columns
    self.record = record
    self.total = total
    self.start = start
    self.commits = commits
    if case .afterSnapshot = start { ids = nil } else { ids = IDClaimTracker() }
    var isLate = true
    if let generated = total.generated {
      (isLate, _, _) = try connections[0].row(
        ImportStatements.state(asOf: generated), as: (Bool, Bool, Bool).self)
    }
    let copying = BulkWriter.Copying(start: start, first: total, isLate: isLate)
    mostBatchBytes = Self.mostBytes / (connections.count + 1)
    threads = try connections.map { connection in
      try WriterThread(
        connection,
        BulkWriter(
          ImportMerge(
            connection: connection, options: record.options, columns: source.columns,
            inferred: source.inferredColumns, generated: total.generated, scope: nil),
          importID: total.id ?? 0, start: start, copying: copying))
    }
  }

  /// Imports the rest of the source, or the part before `shouldStop` ends the import. Returns the counts of
  /// the whole import; `isComplete` tells which.
  func run(
    from reader: inout ImportReader<some ImportSource>, shouldStop: () -> Bool,
    progress: (Int64) -> Void
  ) throws -> ImportReport {
    var read = total.seen
    var turn = 0
    var rejects = RejectBudget(after: total)
    let before = total
    do {
      while reader.item != nil, commits == .onceAtTheEnd || !shouldStop() {
        let thread = threads[turn % threads.count]
        turn += 1
        let batch =
          spare.popLast() ?? RecordBatch(columns: columns, capacity: mostBatchBytes)
        let begun = MonotonicClock.now()
        try batch.fill(
          from: &reader, limit: recordsLeft(on: thread),
          bytes: min(max(bytes / 8, Self.leastBatchBytes), mostBatchBytes), budget: &rejects)
        bytes += batch.bytes
        total.receiveDuration += MonotonicClock.now() - begun
        total.bytes = reader.source.bytesRead
        let claims = try collectClaims(of: batch, isLast: reader.item == nil)
        try wait(for: thread)
        for other in threads where other !== thread && !other.keys.isDisjoint(with: batch.keys) {
          try commit(other)
        }
        write(batch, claims, on: thread, first: read + 1)
        read += batch.seen
        progress(read)
      }
      for thread in threads { try commit(thread) }
    } catch {
      rollBack()
      throw error
    }
    total.isComplete = reader.item == nil
    let inMerges = (
      count: total.rejectsKept - before.rejectsKept,
      bytes: total.rejectBytesKept - before.rejectBytesKept
    )
    rejects.note(in: &total)
    total.rejectsKept += inMerges.count
    total.rejectBytesKept += inMerges.bytes
    guard repeated > 0 else { return total }
    // They were counted as inserted, updated or unchanged.
    total.duplicate += repeated
    let others = total.seen - total.rejected - total.duplicate - total.inserted
    total.updated = min(total.updated, others)
    total.unchanged = others - total.updated
    return total
  }

  /// Holds back the batch's claims of ids until it is known which of the ids are events of their own: to
  /// the end of the source, or until it is longer than a feed. Then returns all of them.
  private func collectClaims(of batch: RecordBatch, isLast: Bool) throws -> [IDClaim] {
    guard ids != nil else { return [] }
    ids?.add(batch)
    guard let known = ids else { return [] }
    // The first record of the code has been written, or will be, although the last one wins.
    if known.repeated > 0, start == .besideStoredEvents {
      throw WholeSourceNeeded(reason: "an event is in it more than once", ofAnyLength: true)
    }
    guard isLast || known.isFull else { return [] }
    ids = nil
    repeated = known.repeated
    return known.claims
  }

  /// How many more records the thread's open transaction may have, or the next one.
  private func recordsLeft(on thread: WriterThread) -> Int64 {
    guard case .afterEach(let records) = commits else { return .max }
    let left = records - thread.report.seen - (thread.batch?.seen ?? 0)
    return left > 0 ? left : records
  }

  /// - Parameter claims: Claims of ids by events of this batch and of earlier ones.
  private func write(
    _ batch: RecordBatch, _ claims: [IDClaim], on thread: WriterThread, first: Int64
  ) {
    let begins = !thread.isOpen
    let commits = commits
    let before = thread.report
    (thread.isOpen, thread.isBusy) = (true, true)
    thread.batch = batch
    if case .afterEach(let records) = commits { thread.ends = before.seen + batch.seen >= records }
    if threads.count > 1 { thread.keys.formUnion(batch.keys) }
    let ends = thread.ends
    // Not `self`: if the thread held the last reference, `deinit` would have the thread wait for itself.
    let (writer, connection, record) = (thread.writer, thread.thread.connection, record)
    thread.thread.start {
      if begins {
        if commits != .onceAtTheEnd { try connection.begin() }
        try writer.prepareTransaction()
      }
      var report = try writer.write(batch, first: first)
      if !claims.isEmpty { report.add(try writer.resolve(claims)) }
      if ends { report = try Self.end(before, report, record, writer, connection) }
      return report
    }
  }

  /// Commits a transaction of the import's own, in which `before` and `latest` were done. Returns `latest`
  /// with the records that had still to be merged.
  private static func end(
    _ before: ImportReport, _ latest: ImportReport, _ record: ImportRecord, _ writer: BulkWriter,
    _ connection: Connection
  ) throws -> ImportReport {
    var latest = latest
    latest.add(try writer.finish())
    var all = before
    all.add(latest)
    try record.add(all, to: writer.importID, over: connection)
    try connection.commit()
    return latest
  }

  /// Waits for the thread's work, and adds up the counts.
  ///
  /// The work may wait for an event that another of our transactions has written. That one would go on only afterwards,
  /// and PostgreSQL would see no deadlock. So the transactions are committed for which somebody waits.
  private func wait(for thread: WriterThread) throws {
    while thread.isBusy {
      if thread.thread.isDone(within: 1000) {
        try collect(thread)
        continue
      }
      for other in threads
      where other !== thread && other.isOpen && other.thread.isDone(within: 0) {
        try collect(other)
        if other.isOpen, try isAwaited(other.thread.connection) { try commit(other) }
      }
    }
  }

  /// Takes the result of the thread's work, which is done.
  private func collect(_ thread: WriterThread) throws {
    guard thread.isBusy else { return }
    thread.isBusy = false
    if let report = try thread.thread.finish() { thread.report.add(report) }
    if let batch = thread.batch {
      thread.batch = nil
      batch.removeAll()
      spare.append(batch)
    }
    if thread.ends { close(thread) }
  }

  private func isAwaited(_ connection: Connection) throws -> Bool {
    try connection.row(
      """
      select exists (select from pg_catalog.pg_locks l
                      where not l.granted
                        and pg_catalog.pg_backend_pid() = any (pg_catalog.pg_blocking_pids(l.pid)))
      """, as: Bool.self)
  }

  private func close(_ thread: WriterThread) {
    total.add(thread.report)
    thread.report = ImportReport()
    thread.keys.removeAll(keepingCapacity: true)
    thread.isOpen = false
    thread.ends = false
  }

  /// Ends the thread's transaction. A transaction of the caller stays open.
  private func commit(_ thread: WriterThread) throws {
    try wait(for: thread)
    guard thread.isOpen else { return }
    let (writer, connection, record) = (thread.writer, thread.thread.connection, record)
    let (before, commits) = (thread.report, commits)
    (thread.isBusy, thread.ends) = (true, true)
    thread.thread.start {
      commits == .onceAtTheEnd
        ? try writer.finish()
        : try Self.end(before, ImportReport(), record, writer, connection)
    }
    try wait(for: thread)
  }

  /// Rolls the transactions back, each when its work is done: one may have waited for another.
  private func rollBack() {
    var rest = threads
    while !rest.isEmpty {
      rest.removeAll { thread in
        guard thread.thread.isDone(within: 20) else { return false }
        _ = try? thread.thread.finish()
        if commits != .onceAtTheEnd, thread.isOpen { _ = try? thread.thread.connection.rollback() }
        return true
      }
    }
  }
}

/// Tracks the codes and the claimed ids of a source while it is read. So the database need not be asked
/// about them, and claims are resolved as if all records had been read at once.
struct IDClaimTracker {
  /// The most ids that are kept in memory.
  private static let most = 65_536

  private var codes: Set<UInt64> = []
  /// Those whose last record says that the event was deleted, so that another event may have the id.
  private var deleted: Set<UInt64> = []
  private var claimed: [IDClaim] = []
  /// Whether the ids of all records are in memory.
  private var isComplete = true
  /// The number of records whose code occurred before: in the source, or in an earlier batch.
  private(set) var repeated: Int64 = 0

  /// Whether a record says that its event was deleted.
  private(set) var hasDeletions = false

  /// Whether a code may have occurred more than once. The database is also asked if there are deletions: the
  /// last record of a code may be one, and it claims no ids.
  var mayHaveDuplicates: Bool { !isComplete || repeated > 0 || hasDeletions }

  /// Whether it holds the ids of a feed of the greatest length.
  var isFull: Bool { codes.count >= ImportPlan.longestFeed || claimed.count >= Self.most }

  /// Claims of ids that no record has as its code, except those of events that were deleted.
  var claims: [IDClaim] {
    claimed.filter {
      let key = $0.id.idKey
      return !codes.contains(key) || deleted.contains(key)
    }
  }

  mutating func add(_ record: EventRecord) {
    guard !record.isDeletion else { return hasDeletions = true }
    guard isComplete else { return }
    guard codes.count < Self.most, claimed.count < Self.most else {
      codes = []
      claimed = []
      repeated = 0
      isComplete = false
      return
    }
    record.withUTF8(.code) { code in
      if let code, !codes.insert(code.idKey).inserted { repeated += 1 }
    }
    record.forEachOtherID { id in
      claimed.append(
        IDClaim(id: String(decoding: id, as: UTF8.self), code: record.code ?? ""))
    }
  }

  /// Adds the ids of a batch, and removes its claims from the batch.
  mutating func add(_ batch: RecordBatch) {
    var again: Set<UInt64> = []
    for (key, isDeletion) in batch.codeKeys {
      if !codes.insert(key).inserted { again.insert(key) }
      if isDeletion {
        deleted.insert(key)
      } else if !deleted.isEmpty {
        deleted.remove(key)
      }
    }
    repeated += Int64(again.count)
    // The last record of a code wins, also with its claims.
    if !again.isEmpty { claimed.removeAll { again.contains($0.code.idKey) } }
    claimed += batch.takeClaims()
  }
}
