internal import Postgres
internal import QuakeModel
internal import SystemClock

/// Brings portions of a long source into the store over one connection, in the transaction that is open
/// there.
///
/// New events are copied straight into the table. Those that are stored with the same contents are found
/// out and left alone. Others are staged, several portions together, and then merged like a feed;
/// `finish` merges the rest, before the transaction ends.
final class BulkWriter {
  /// So many records are merged together, or a portion: enough for planning and truncating to cost little,
  /// and few enough for sorting them in memory.
  private static let mostStaged = 8_192
  /// So many events are looked up together: what is stored of them is held in memory meanwhile.
  private static let lookedUpTogether = 256

  private let connection: Connection
  private let options: ImportOptions
  private let columns: [QuakeColumn]
  private let storedStatement: SQL
  /// When the snapshot was generated; nil: nobody knows.
  private let generated: Timestamp?
  /// The import's row.
  let importID: Int64
  /// Whether the next events are likely to be new, as the last ones were.
  private var expectsNew: Bool
  /// Whether events may be copied straight into the table. What is late may not: newer snapshots that
  /// should have held an event may have done without it.
  private let mayCopy: Bool
  /// Whether the import can be done otherwise, where portions do not do.
  private let mayNeedOrder: Bool
  /// Whether ids that events claim are noted as theirs whatever is known of them, and those that are events
  /// of their own are looked for later, for many portions together: before a merge, and at the end of the
  /// transaction. Where there was nothing before, these are few, and each has its own record to count.
  private let settlesAtEnd: Bool
  /// Whether events have been copied, or claims noted, since that was done.
  private var isUnsettled = false
  /// Whether nothing came but new events.
  private var hasOnlyCopied = true
  private var staged = 0
  /// The ids that what is staged, or claimed, is about.
  private var pendingKeys: Set<UInt64> = []
  private var pendingClaims: [IDClaim] = []

  init(
    connection: Connection, options: ImportOptions, columns: [QuakeColumn], total: ImportReport,
    mayCopy: Bool, expectsNew: Bool, mayNeedOrder: Bool, settlesAtEnd: Bool
  ) {
    self.connection = connection
    self.options = options
    self.columns = columns
    storedStatement = ImportStatements.stored(columns)
    generated = total.generated
    importID = total.id ?? 0
    self.mayCopy = mayCopy
    self.expectsNew = expectsNew
    self.mayNeedOrder = mayNeedOrder
    self.settlesAtEnd = settlesAtEnd
  }

  /// What holds for a transaction that brings in portions.
  func prepareTransaction() throws(PostgresError) {
    try ImportStatements.forgetStaging(over: connection)
    // Sorts, and the rows that the history's triggers are given, stay in memory.
    try connection.execute(
      """
      select set_config('jit', 'off', true), set_config('random_page_cost', '1.1', true),
             set_config('work_mem', '16MB', true), set_config('quake.author', $1, true),
             set_config('quake.context', $2, true), set_config('quake.import', $3, true)
      """,
      [
        .text(options.author), .text(options.context ?? options.feed), .text(String(importID)),
      ])
  }

  /// Brings a portion in, or stages it.
  ///
  /// - Parameter first: Number of the portion's first record in the source, from 1.
  func bringIn(_ portion: RecordBatch, first: Int64) throws -> ImportReport {
    let begun = MonotonicClock.now()
    var report = ImportReport()
    report.seen = portion.seen
    report.rejected = Int64(portion.rejects.count)
    report.duplicate = portion.duplicates
    report.firstReject = portion.rejects.first { $0.isKept }?.reject
    try keep(portion.rejects, first: first)
    try lookForMissing(portion.rejects)
    if portion.count > 0 {
      if expectsNew, try copy(portion) {
        report.inserted = Int64(portion.count)
      } else {
        // Of one code the last counts: that it comes in a later merge makes sure of it. Nor is an id that
        // one event claims another's own within one merge.
        if !pendingKeys.isDisjoint(with: portion.keys) { report.add(try mergeStaged()) }
        let found = try leaveOutStored(of: portion)
        if isFull(with: portion) { report.add(try mergeStaged()) }
        if found == 0, try copy(portion) {
          report.inserted += Int64(portion.count)
        } else {
          hasOnlyCopied = false
          report.unchanged += Int64(portion.count - portion.different)
          try stage(portion)
        }
      }
    }
    report.mergeDuration = MonotonicClock.now() - begun
    return report
  }

  /// Settles who stands for whom where events that have been brought in claim ids that are none of their
  /// source's own events.
  func settle(_ claims: [IDClaim]) throws -> ImportReport {
    let begun = MonotonicClock.now()
    var report = ImportReport()
    if try !settlesAtEnd && (!hasOnlyCopied || isAnyKnown(claims, codes: [])) {
      pendingClaims += claims
      report = try mergeStaged()
    } else {
      try addAliases(claims)
    }
    report.mergeDuration = MonotonicClock.now() - begun
    return report
  }

  private func isFull(with portion: RecordBatch) -> Bool {
    max(staged, pendingClaims.count) + portion.different > Self.mostStaged
  }

  /// Merges what is staged; the report counts what became of it.
  private func mergeStaged() throws -> ImportReport {
    var report = ImportReport()
    guard staged > 0 || !pendingClaims.isEmpty else { return report }
    // What was copied is to stand by itself before anything that came later leads on from it.
    try settleCopied(&report)
    if try staged > 0 || merge.hasNewClaims() {
      if staged == 0 { try emptyStaging() }
      report.seen = Int64(staged)
      try merge.merge(&report)
    }
    if staged > 0 { expectsNew = report.inserted == report.seen }
    // They were counted as seen when they were staged.
    report.seen = 0
    staged = 0
    pendingKeys.removeAll(keepingCapacity: true)
    pendingClaims.removeAll(keepingCapacity: true)
    return report
  }

  /// What is left to be done at the end of a transaction; the report counts it.
  func finish() throws -> ImportReport {
    var report = try mergeStaged()
    try settleCopied(&report)
    return report
  }

  private func settleCopied(_ report: inout ImportReport) throws {
    guard settlesAtEnd, isUnsettled else { return }
    try merge.settleCopied(&report)
    isUnsettled = false
  }

  private var merge: ImportMerge {
    ImportMerge(
      connection: connection, options: options, columns: columns, generated: generated, scope: nil,
      claims: pendingClaims)
  }

  // MARK: - New events

  /// Copies the events into the table itself: without staging, joining and looking for conflicts this
  /// takes half the time. False, and nothing done, if one of them is there already, or anything is known
  /// of one of their ids, or they might come before something that is still to be merged.
  private func copy(_ portion: RecordBatch) throws -> Bool {
    guard mayCopy, staged == 0, pendingClaims.isEmpty else { return false }
    let claims = portion.claims
    expectsNew = false
    guard try settlesAtEnd || !isAnyKnown(claims, codes: portion.eventCodes) else { return false }
    try connection.execute("savepoint quake_portion")
    do {
      try connection.copyIn(copyStatement) { writer in
        try portion.forEachRow { values in
          try writer.beginRow(columnCount: columns.count + 1)
          try writer.values(values)
          if let generated {
            try writer.timestamp(microseconds: generated.microseconds)
          } else {
            try writer.null()
          }
        }
      }
    } catch let error as PostgresError where isConflict(error) {
      try connection.execute("rollback to savepoint quake_portion")
      try connection.execute("release savepoint quake_portion")
      return false
    }
    try connection.execute("release savepoint quake_portion")
    try addAliases(claims)
    expectsNew = true
    isUnsettled = true
    return true
  }

  /// Whether anything is known of ids that are claimed, or any of the codes as another event's id.
  private func isAnyKnown(_ claims: [IDClaim], codes: [String]) throws -> Bool {
    guard !claims.isEmpty || !codes.isEmpty else { return false }
    let ids = claims.map(\.id)
    return try connection.executePrepared(
      ImportStatements.isAnyKnown, [.array(codes + ids), .array(ids)]
    ).bool(0, 0) ?? true
  }

  private func addAliases(_ claims: [IDClaim]) throws {
    guard !claims.isEmpty else { return }
    isUnsettled = true
    try connection.executePrepared(
      ImportStatements.addAliases,
      [
        .array(claims.map(\.id)), .array(claims.map(\.code)), .text(generated?.description),
      ])
  }

  private var copyStatement: SQL {
    SQL(
      trusted: """
        copy quake.quake (\(columns.map(\.name).joined(separator: ", ")), as_of)
        from stdin (format binary)
        """)
  }

  /// An event that is there, or that somebody else is just bringing in.
  private func isConflict(_ error: PostgresError) -> Bool {
    error.sqlState == SQLState.uniqueViolation
      || error.sqlState == SQLState.deadlockDetected && !mayNeedOrder
  }

  // MARK: - Others

  /// Finds out which events are stored as they come again. That spares staging and merging them, which
  /// together cost three times as much. What nobody knows the age of is compared with all else that is
  /// said in the same source, and so has to be staged.
  ///
  /// - Returns: How many of the events are stored, if anybody knows: whatever their contents.
  private func leaveOutStored(of portion: RecordBatch) throws -> Int? {
    guard generated != nil else { return nil }
    var found = 0
    for start in stride(from: 0, to: portion.count, by: Self.lookedUpTogether) {
      let places = start..<min(start + Self.lookedUpTogether, portion.count)
      let stored = try connection.executePrepared(
        storedStatement, [.array(portion.eventCodes(places))], format: .binary)
      found += stored.rowCount
      for row in 0..<stored.rowCount where stored.binaryBool(row, 1) == true {
        portion.leaveOut(ifIn: stored, row: row, code: 0, from: 2)
      }
    }
    return found
  }

  private func stage(_ portion: RecordBatch) throws {
    pendingKeys.formUnion(portion.pendingKeys)
    if settlesAtEnd {
      try addAliases(portion.claims)
    } else {
      pendingClaims += portion.claims
    }
    guard portion.different > 0 else { return }
    if staged == 0 { try emptyStaging() }
    try connection.copyIn(ImportStatements.copyRecords(columns)) { writer in
      try portion.forEachRow { values in
        staged += 1
        try writer.beginRow(columnCount: columns.count + 1)
        try writer.int8(Int64(staged))
        try writer.values(values)
      }
    }
  }

  private func emptyStaging() throws(PostgresError) {
    try connection.execute(ImportStatements.createStaging)
    try connection.execute("truncate pg_temp.quake_staging")
  }

  /// What is rejected is not missing from its feed: where it is believed to be, it has to be staged with
  /// all the rest.
  private func lookForMissing(
    _ rejects: [(record: Int64, reject: ImportReject, isKept: Bool)]
  ) throws {
    let codes = rejects.compactMap(\.reject.code)
    guard mayNeedOrder, !codes.isEmpty else { return }
    let isMissing = try connection.execute(ImportStatements.isAnyMissing, [.array(codes)])
    guard isMissing.bool(0, 0) == false else {
      throw OrderNeeded(reason: "it has events that were missing, and cannot be taken")
    }
  }

  private func keep(
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
        try writer.int8(importID)
        try writer.int8(first + record - 1)
        try writer.text(reject.place)
        try writer.text(reject.reason)
        try writer.text(reject.raw)
      }
    }
  }
}
