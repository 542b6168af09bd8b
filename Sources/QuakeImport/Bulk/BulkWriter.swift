internal import Basics
internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// Writes batches of records over one connection, in the transaction that is open there.
///
/// New events are copied straight into the table. Events that are stored with the same contents are found
/// by a lookup and skipped. All others are staged, those of several batches together, and then merged like
/// a snapshot; `finish` merges the last of them before the transaction ends.
final class BulkWriter {
  /// When the events of a batch are copied straight into the table.
  enum Copying: Equatable {
    /// Never. A newer snapshot has been applied that should have held these events. If it did not, they
    /// are missing, which only a merge finds out.
    case never
    /// Without looking them up: the events before were new.
    case withoutLookup
    /// If a lookup has found none of them.
    case afterLookup

    /// - Parameters:
    ///   - first: The report of the records before the first batch.
    ///   - isLate: Whether a newer snapshot has been applied, or the age of this one is unknown.
    init(start: BulkStart, first: ImportReport, isLate: Bool) {
      let wereNew =
        first.seen > 0 && first.inserted == first.seen - first.rejected - first.duplicate
      if isLate {
        self = .never
      } else {
        self = start == .inEmptyStore || wereNew ? .withoutLookup : .afterLookup
      }
    }

    /// The same after events that were new, or were not.
    func after(newEvents: Bool) -> Copying {
      if self == .never { return .never }
      return newEvents ? .withoutLookup : .afterLookup
    }
  }

  /// The most records that are merged together: enough to make planning and truncating cheap, and few
  /// enough to sort in memory.
  private static let mostStaged = 8_192
  /// The most codes of differing records that are kept in memory.
  private static let mostDiffering = 65_536
  /// The number of events of one lookup, whose stored contents are held in memory.
  private static let lookedUpTogether = 256

  private let connection: Connection
  private let options: ImportOptions
  private let columns: [EventColumn]
  /// A merge of no records yet.
  private let blankMerge: ImportMerge
  private let contents: SQL
  /// When the snapshot was generated; nil: unknown.
  private let generated: Timestamp?
  let importID: Int64
  private let start: BulkStart
  private var copying: Copying
  /// Whether events have been copied, or claims added, since the ids of copied events were resolved.
  ///
  /// In an empty store all claims are added as aliases at once. Which of the ids are events of their own is
  /// found out for many batches together: before a merge, and at the end of the transaction. These are few,
  /// and the record of such an event decides.
  private var hasUnresolvedCopies = false
  /// Whether all events so far were new and copied.
  private var hasOnlyCopied = true
  private var staged = 0
  /// Whether some staged records say that their events were deleted.
  private var hasStagedDeletions = false
  /// Hashes of the ids of staged records, and of pending claims.
  private var pendingKeys: Set<UInt64> = []
  private var pendingClaims: [IDClaim] = []
  /// Hashes of the codes of which a record differed from the stored event, or was new and was not copied.
  private var differing: Set<UInt64> = []
  /// How many records that merges have rejected are kept.
  private var rejectsOfMerges = ImportReport()

  /// - Parameter merge: A merge of no records yet.
  init(_ merge: ImportMerge, importID: Int64, start: BulkStart, copying: Copying) {
    blankMerge = merge
    connection = merge.connection
    options = merge.options
    columns = merge.columns
    generated = merge.generated
    contents = merge.columns.list(of: "q")
    self.importID = importID
    self.start = start
    self.copying = copying
  }

  /// Sets what a transaction of batches needs.
  func prepareTransaction() throws(PostgresError) {
    try ImportStatements.dropStaging(over: connection)
    // Sorts, and the transition tables of the history's triggers, stay in memory.
    try connection.execute(
      """
      select set_config('random_page_cost', '1.1', true), set_config('work_mem', '16MB', true),
             set_config('quake.author', \(options.author), true),
             set_config('quake.context', \(options.context ?? options.feed), true),
             set_config('quake.import', \("\(importID)"), true),
             set_config('quake.keep_deleted', 'on', true)
      """)
  }

  /// Writes a batch, or stages it.
  ///
  /// - Parameter first: Number of the batch's first record in the source, from 1.
  func write(_ batch: RecordBatch, first: Int64) throws -> ImportReport {
    let begun = MonotonicClock.now()
    var report = ImportReport()
    report.seen = batch.seen
    report.rejected = Int64(batch.rejects.count)
    report.duplicate = batch.duplicates
    report.firstReject = batch.rejects.first { $0.isKept }?.reject
    try store(batch.rejects, first: first)
    try lookForMissing(batch.rejects)
    if batch.count > 0 {
      if copying == .withoutLookup, try copy(batch) {
        report.inserted = Int64(batch.count)
      } else {
        // The last record of a code wins, so a repeated code waits for the next merge. So does an event
        // whose id another event claims.
        if !pendingKeys.isDisjoint(with: batch.keys) { report.add(try mergeStaged()) }
        let found = try skipStored(of: batch)
        try lookForRepeated(batch)
        if isFull(with: batch) { report.add(try mergeStaged()) }
        if found == 0, try copy(batch) {
          report.inserted += Int64(batch.count)
        } else {
          hasOnlyCopied = false
          report.unchanged += Int64(batch.count - batch.different)
          try stage(batch, first: first)
        }
      }
    }
    report.mergeDuration = MonotonicClock.now() - begun
    return report
  }

  /// Resolves claims of ids that no record of the source has as its code. The events that claim them have
  /// been written.
  func resolve(_ claims: [IDClaim]) throws -> ImportReport {
    let begun = MonotonicClock.now()
    var report = ImportReport()
    if try start != .inEmptyStore && (!hasOnlyCopied || isAnyKnown(claims, codes: [])) {
      pendingClaims += claims
      report = try mergeStaged()
    } else {
      try addAliases(claims)
    }
    report.mergeDuration = MonotonicClock.now() - begun
    return report
  }

  private func isFull(with batch: RecordBatch) -> Bool {
    max(staged, pendingClaims.count) + batch.different > Self.mostStaged
  }

  /// Merges the staged records; the report has their counts.
  private func mergeStaged() throws -> ImportReport {
    var report = ImportReport()
    guard staged > 0 || !pendingClaims.isEmpty else { return report }
    // The aliases of copied events are resolved before later records are merged.
    try resolveCopied(&report)
    if try staged > 0 || merge.hasNewClaims() {
      if staged == 0 { try emptyStaging() }
      report.seen = Int64(staged)
      try merge.merge(&report)
      if report.rejected > 0 { try storeRejects(&report) }
    }
    if staged > 0 { copying = copying.after(newEvents: report.inserted == report.seen) }
    // They were counted as seen when they were staged.
    report.seen = 0
    staged = 0
    hasStagedDeletions = false
    pendingKeys.removeAll(keepingCapacity: true)
    pendingClaims.removeAll(keepingCapacity: true)
    return report
  }

  /// Does the rest of the work at the end of a transaction; the report has its counts.
  func finish() throws -> ImportReport {
    var report = try mergeStaged()
    try resolveCopied(&report)
    return report
  }

  private func resolveCopied(_ report: inout ImportReport) throws {
    guard start == .inEmptyStore, hasUnresolvedCopies else { return }
    try merge.resolveCopied(&report)
    hasUnresolvedCopies = false
  }

  private var merge: ImportMerge {
    var merge = blankMerge
    merge.claims = pendingClaims
    merge.hasDeletions = hasStagedDeletions
    return merge
  }

  // MARK: - New events

  /// Copies the events straight into the table. Without staging, joining and looking for conflicts this
  /// takes half the time. Returns false, and does nothing, if an event is stored already or was deleted, if
  /// any of the ids is known, if staged records have to be merged first, or if a record is a deletion.
  private func copy(_ batch: RecordBatch) throws -> Bool {
    guard copying != .never, staged == 0, pendingClaims.isEmpty, !batch.hasDeletions
    else { return false }
    let claims = batch.claims
    copying = .afterLookup
    guard try start == .inEmptyStore || !isAnyKnown(claims, codes: batch.eventCodes)
    else { return false }
    try connection.execute("savepoint quake_batch")
    do {
      try connection.copyIn(copyStatement) { writer in
        try batch.forEachRow { _, values in
          try writer.beginRow(columnCount: columns.count + 1)
          writer.values.append(values)
          if let generated {
            writer.values.timestamp(microseconds: generated.microseconds)
          } else {
            writer.values.null()
          }
        }
      }
    } catch let error as PostgresError where isConflict(error) {
      try connection.execute("rollback to savepoint quake_batch")
      try connection.execute("release savepoint quake_batch")
      return false
    }
    try connection.execute("release savepoint quake_batch")
    try addAliases(claims)
    copying = .withoutLookup
    hasUnresolvedCopies = true
    return true
  }

  /// Whether any of the claimed ids is known, or any of the codes is known as another event's id.
  private func isAnyKnown(_ claims: [IDClaim], codes: [String]) throws -> Bool {
    guard !claims.isEmpty || !codes.isEmpty else { return false }
    let ids = claims.map(\.id)
    return try connection.row(
      ImportStatements.isAnyKnown(codes + ids, claimed: ids), prepared: true, as: Bool.self)
  }

  private func addAliases(_ claims: [IDClaim]) throws {
    guard !claims.isEmpty else { return }
    hasUnresolvedCopies = true
    try connection.executePrepared(ImportStatements.addAliases(claims, asOf: generated))
  }

  private var copyStatement: SQL {
    "copy quake.quake (\(sql: ImportStatements.names(columns)), as_of) from stdin (format binary)"
  }

  /// Whether an event is stored already, another session is inserting it, or it has just been deleted. A
  /// deadlock beside stored events ends the transaction: the import begins anew.
  private func isConflict(_ error: PostgresError) -> Bool {
    error.sqlState == SQLState.uniqueViolation || error.sqlState == StoreState.deletedEvent
      || error.sqlState == SQLState.deadlockDetected && start != .besideStoredEvents
  }

  // MARK: - Stored events

  /// Finds out which records have the same contents as the stored event, and skips them. That saves staging
  /// and merging them, which together cost three times as much. A snapshot of unknown age is not looked
  /// up: its records are compared with each other, and so have to be staged.
  ///
  /// - Returns: How many of the events are stored, with any contents; nil if they were not looked up.
  private func skipStored(of batch: RecordBatch) throws -> Int? {
    guard generated != nil else { return nil }
    var found = 0
    for start in stride(from: 0, to: batch.count, by: Self.lookedUpTogether) {
      let places = start..<min(start + Self.lookedUpTogether, batch.count)
      let stored = try connection.executePrepared(
        ImportStatements.stored(batch.eventCodes(places), contents), format: .binary)
      found += stored.rowCount
      // By position, because each record is compared, byte by byte, with the columns that follow these two.
      let (code, isComparable, first) = (0, 1, 2)
      for row in 0..<stored.rowCount where stored.binary(row, isComparable).bool == true {
        batch.skip(ifIn: stored, row: row, code: code, from: first)
      }
    }
    return found
  }

  /// A code whose record has changed an event, and that occurs again with other values, would change it again each time
  /// the source is imported, although the last record is stored. So the whole source is staged, where only the last record
  /// counts.
  private func lookForRepeated(_ batch: RecordBatch) throws {
    guard !differing.isEmpty, !differing.isDisjoint(with: batch.differentKeys) else { return }
    throw WholeSourceNeeded(reason: "an event is in it more than once", ofAnyLength: true)
  }

  /// - Parameter first: Number of the batch's first record in the source, from 1.
  private func stage(_ batch: RecordBatch, first: Int64) throws {
    if start == .besideStoredEvents, differing.count < Self.mostDiffering {
      differing.formUnion(batch.differentKeys)
    }
    pendingKeys.formUnion(batch.pendingKeys)
    if start == .inEmptyStore {
      try addAliases(batch.claims)
    } else {
      pendingClaims += batch.claims
    }
    guard batch.different > 0 else { return }
    if staged == 0 { try emptyStaging() }
    if batch.hasDeletions { hasStagedDeletions = true }
    try connection.copyIn(ImportStatements.copyRecords(columns)) { writer in
      try batch.forEachRow { number, values in
        staged += 1
        try writer.beginRow(columnCount: columns.count + 1)
        writer.values.int8(first + number - 1)
        writer.values.append(values)
      }
    }
  }

  private func emptyStaging() throws(PostgresError) {
    try connection.execute(ImportStatements.createStaging)
    try connection.execute("truncate pg_temp.quake_staging")
  }

  // MARK: - Rejects

  /// A rejected record shows that its event is not missing from the feed. If the event is counted as
  /// missing, the whole source has to be staged to correct that.
  private func lookForMissing(
    _ rejects: [(record: Int64, reject: ImportReject, isKept: Bool)]
  ) throws {
    let codes = rejects.compactMap(\.reject.code)
    guard start == .besideStoredEvents, !codes.isEmpty else { return }
    guard try !connection.row(ImportStatements.isAnyMissing(codes), as: Bool.self) else {
      throw WholeSourceNeeded(reason: "it rejects events that were counted as missing")
    }
  }

  /// Stores the records that a merge has rejected.
  private func storeRejects(_ report: inout ImportReport) throws {
    var kept = ImportReport()
    kept.id = importID
    kept.rejectsKept = rejectsOfMerges.rejectsKept
    kept.rejectBytesKept = rejectsOfMerges.rejectBytesKept
    try RejectStore.store(&kept, over: connection)
    report.rejectsKept += kept.rejectsKept - rejectsOfMerges.rejectsKept
    report.rejectBytesKept += kept.rejectBytesKept - rejectsOfMerges.rejectBytesKept
    rejectsOfMerges = kept
  }

  private func store(
    _ rejects: [(record: Int64, reject: ImportReject, isKept: Bool)], first: Int64
  ) throws {
    guard rejects.contains(where: \.isKept) else { return }
    try connection.copyIn(
      """
      copy quake.import_reject (import_id, record, place, reason, raw) from stdin (format binary)
      """
    ) { writer in
      for (record, reject, isKept) in rejects where isKept {
        try writer.beginRow(columnCount: 5)
        writer.values.int8(importID)
        writer.values.int8(first + record - 1)
        writer.values.text(reject.place)
        writer.values.text(reject.reason)
        writer.values.text(reject.raw)
      }
    }
  }
}
