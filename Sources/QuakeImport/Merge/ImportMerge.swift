internal import Postgres
internal import QuakeHistory
internal import QuakeModel

/// Merges the staged records: first the contents, then identities, deletions by the agency, and absences.
struct ImportMerge {
  let connection: Connection
  let options: ImportOptions
  let columns: [EventColumn]
  /// Those that are set in new events only.
  let inferred: Set<EventColumn>
  /// When the snapshot was generated; nil: unknown.
  let generated: Timestamp?
  /// Which events it should hold; nil: unknown.
  let scope: SnapshotScope?
  /// Claims of ids that are no staged events, if the caller knows them already.
  var claims: [IDClaim]?
  /// Whether some staged records say that their events were deleted.
  var hasDeletions = false

  /// Up to this number of rows the planner's estimates for a new temporary table are good enough.
  private static let analyzeFrom = 20_000

  private var asOf: SQL { "\(generated)::timestamptz" }

  /// Prepares the staged records for queries: only the last record of each code stays.
  ///
  /// - Parameter mayHaveDuplicates: False if each code is known to occur once.
  func prepare(_ batch: inout ImportReport, mayHaveDuplicates: Bool) throws {
    // The events of a feed are in the cache: a few thousand lookups are faster than a scan of the table.
    try connection.execute("select set_config('random_page_cost', '1.1', true)")
    if batch.seen > Self.analyzeFrom {
      // The columns that the queries join by; all columns would take several times as long.
      try connection.execute("analyze pg_temp.quake_staging (code, ids, reject_reason)")
    }
    guard mayHaveDuplicates else { return }
    batch.duplicate = Int64(try connection.execute(ImportStatements.removeDuplicates).affectedRows)
  }

  func merge(_ batch: inout ImportReport) throws {
    let (isLate, hasWithdrawn, hasSuperseded) = try connection.row(
      ImportStatements.state(asOf: generated), as: (Bool, Bool, Bool).self)
    let overwrites = options.policy.overwrites
    let agency = deletions(isLate: isLate)
    let deleted = hasDeletions ? try agency.removeStaged() : nil
    let returning = overwrites && hasWithdrawn ? try agency.returning() : nil
    let statements = ImportStatements(
      columns: columns, inferred: inferred, policy: options.policy, asOf: asOf, isLate: isLate,
      hidesNew: !isLate && columns.contains(.ids) && (hasWithdrawn || hasSuperseded),
      restoring: returning?.codes)
    if options.policy == .error { try refuseConflicts(statements) }
    try connection.execute(
      """
      select set_config('quake.author', \(options.author), true),
             set_config('quake.context', \(options.context ?? options.feed), true),
             set_config('quake.keep_deleted', 'on', true), set_config('quake.foreign', 'off', true)
      """)
    let merged = try DeletedEvents(connection: connection).mergeOthers(asOf: asOf) {
      () throws(PostgresError) in
      try connection.row(statements.merge) { row throws(PostgresError) in
        Merged(
          inserted: try row["inserted"], updated: try row["updated"],
          insertedCodes: try row["inserted_codes"], own: try row["own"],
          hasForeign: try row["has_foreign"] ?? false)
      }
    }
    batch.inserted = merged.inserted
    batch.updated = merged.updated
    let foreign =
      merged.hasForeign ? try rejectForeign(with: statements.rejectForeign, &batch) : []
    batch.unchanged =
      batch.seen - batch.rejected - batch.duplicate - batch.inserted - batch.updated
    if options.policy == .incoming,
      try connection.row(ImportStatements.hasNewer(asOf: asOf), as: Bool.self)
    {
      batch.stale = try connection.row(statements.countStale, as: Int64.self)
    }
    if let returning {
      try agency.restore(returning)
      batch.restored += returning.count
    }
    // An event that is known as an id of another one is superseded, or has just been inserted.
    var own = merged.own
    if overwrites, hasSuperseded {
      own = try connection.row(IdentityStatements.own(new: own), as: String?.self)
    }
    let (ids, successors) = try readClaims(without: foreign)
    try resolve(ids, by: successors, own: own, isLate: isLate, &batch)
    if let deleted { try agency.withdraw(deleted, &batch) }
    if overwrites { try countAbsences(&batch, inserted: merged.insertedCodes) }
  }

  /// What `ImportStatements.merge` returns. Arrays of codes stay texts, because they are only parameters of other
  /// statements.
  private struct Merged {
    var inserted: Int64
    var updated: Int64
    var insertedCodes: String?
    /// The events that are known as ids of another one.
    var own: String?
    var hasForeign: Bool
  }

  private func deletions(isLate: Bool) -> AgencyDeletions {
    AgencyDeletions(
      connection: connection, options: options, columns: columns, asOf: asOf, isLate: isLate)
  }

  /// Rejects the staged records of events that belong to another source. Returns the codes of these events.
  private func rejectForeign(
    with statement: SQL, _ batch: inout ImportReport
  ) throws(PostgresError) -> Set<String> {
    let rejected = try connection.rows(statement, as: (String, String, String, String).self)
    batch.rejected += Int64(rejected.count)
    if batch.firstReject == nil, let (place, reason, raw, code) = rejected.first {
      batch.firstReject = ImportReject(place: place, reason: reason, raw: raw, code: code)
    }
    return Set(rejected.map { $0.3 })
  }

  func hasNewClaims() throws -> Bool {
    try readClaims(without: []).ids != nil
  }

  private func refuseConflicts(_ statements: ImportStatements) throws {
    let (code, count) = try connection.row(
      statements.firstConflict, as: (String?, Int64).self)
    guard let code else { return }
    throw ImportRefusal(
      "\(count) of the events \(count == 1 ? "is" : "are") in the store with other contents, the first: \"\(code)\"",
      hint: "Choose another merge policy to overwrite or to keep them.")
  }

  /// Updates aliases and superseded rows of events that were copied straight into the table, whose claims have been added as
  /// aliases.
  func resolveCopied(_ batch: inout ImportReport) throws {
    // There are few ids, and the planner has no statistics of the large table yet.
    try connection.execute(
      "select set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)"
    )
    let own = try connection.row(IdentityStatements.ownCopied(asOf: asOf), as: String?.self)
    try connection.execute(
      "select set_config('enable_hashjoin', 'on', true), set_config('enable_mergejoin', 'on', true)"
    )
    try resolve(nil, by: nil, own: own, isLate: false, &batch)
  }

  /// Updates aliases and superseded rows.
  ///
  /// - Parameters:
  ///   - ids: Claimed ids, as the text of an array.
  ///   - successors: The events that claim them.
  ///   - own: The events of the snapshot that are known as ids of another event.
  private func resolve(
    _ ids: String?, by successors: String?, own: String?, isLate: Bool, _ batch: inout ImportReport
  ) throws {
    guard ids != nil || own != nil else { return }
    let statements = IdentityStatements(
      ids: ids, successors: successors, own: own, policy: options.policy, asOf: asOf,
      isLate: isLate)
    try connection.execute(ImportStatements.createStaging)
    let marks: IdentityStatements.Marks? = try connection.row(statements.resolve) {
      row throws(PostgresError) in
      batch.superseded += try row["superseded"]
      batch.restored += try row["restored"]
      guard let targets: String = try row["targets"] else { return nil }
      return IdentityStatements.Marks(
        targets: targets, validated: try row["validated"], withdrawnAt: try row["withdrawn_at"],
        supersededBy: try row["superseded_by"], returns: try row["returns"])
    }
    if let marks { try connection.execute(IdentityStatements.mark(marks)) }
  }

  /// The claimed ids and the events that claim them, where the claim is new, as the texts of arrays; nil: there are
  /// none.
  ///
  /// - Parameter foreign: Events whose records were rejected, so that their claims do not count.
  private func readClaims(
    without foreign: Set<String>
  ) throws -> (ids: String?, successors: String?) {
    guard columns.contains(.ids) else { return (nil, nil) }
    let statement: SQL
    if var claims {
      claims.removeAll { foreign.contains($0.code) }
      guard !claims.isEmpty else { return (nil, nil) }
      statement = IdentityStatements.claimed(among: claims)
    } else {
      statement = IdentityStatements.claimed(columns)
    }
    return try connection.row(statement, as: (String?, String?).self)
  }

  /// Counts the events that are missing, and withdraws or restores events accordingly.
  ///
  /// - Parameter inserted: The events that a late snapshot has inserted; nil: none, or it is not late.
  private func countAbsences(_ batch: inout ImportReport, inserted: String?) throws {
    guard generated != nil else { return }
    let limits = options.limits
    let limit = limits?.onlyCountsAbsences == false ? limits?.withdrawnAfter : nil
    var touched = [try connection.row(AbsenceStatements.clear(asOf: asOf), as: String?.self)]
    if let inserted {
      touched.append(
        try connection.row(
          AbsenceStatements.countForInserted(inserted, asOf: asOf), as: String?.self))
    }
    // The service may have cut a longer snapshot off.
    let scope = batch.seen < SnapshotScope.longest ? self.scope : nil
    if let scope {
      if try connection.row(AbsenceStatements.isLate(scope), as: Bool.self) {
        touched.append(try connection.row(AbsenceStatements.countLate(scope), as: String?.self))
      } else {
        let due = try connection.row(AbsenceStatements.count(scope, times: limit), as: Int64.self)
        if due > 0 {
          batch.withdrawn += try connection.row(
            AbsenceStatements.withdraw(scope, times: limit), as: Int64.self)
        }
      }
    }
    guard let limit else { return }
    for case .some(let codes) in touched {
      let (withdrawn, restored) = try connection.row(
        AbsenceStatements.review(codes, asOf: asOf, feed: scope?.name, times: limit),
        as: (Int64, Int64).self)
      batch.withdrawn += withdrawn
      batch.restored += restored
    }
  }
}

/// A record's statement that an id besides its code belongs to its event.
struct IDClaim {
  let id: String
  let code: String
}

extension EventRecord {
  /// Calls `body` with each id of the event besides its code.
  func forEachOtherID(_ body: (UnsafeRawBufferPointer) -> Void) {
    withUTF8(.code) { code in
      guard let code else { return }
      withUTF8(.ids) { ids in
        // Most events have one id, with a comma on either side.
        guard let ids, ids.count != code.count + 2 else { return }
        for id in ids.split(separator: UInt8(ascii: ",")) where !id.elementsEqual(code) {
          body(UnsafeRawBufferPointer(rebasing: id))
        }
      }
    }
  }
}

extension UnsafeRawBufferPointer {
  /// A hash of an id. Two ids hardly ever have the same one; if they do, the import may be slower, but must be
  /// correct.
  var idKey: UInt64 {
    var hasher = Hasher()
    hasher.combine(bytes: self)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

extension String {
  /// The hash of its UTF-8.
  var idKey: UInt64 {
    var copy = self
    return copy.withUTF8 { UnsafeRawBufferPointer($0).idKey }
  }
}
