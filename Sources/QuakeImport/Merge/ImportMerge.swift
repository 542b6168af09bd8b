internal import Postgres
internal import QuakeModel

/// Merges the staged records: first the contents, then identities, deletions by the agency, and absences.
struct ImportMerge {
  let connection: Connection
  let options: ImportOptions
  let columns: [QuakeColumn]
  /// Those that are set in new events only.
  let inferred: Set<QuakeColumn>
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

  private var asOf: Parameter { .text(generated?.description) }

  /// Prepares the staged records for queries: only the last record of each code stays.
  ///
  /// - Parameter mayHaveDuplicates: False if each code is known to occur once.
  func prepare(_ batch: inout ImportReport, mayHaveDuplicates: Bool) throws {
    // The events of a feed are in the cache: a few thousand lookups are faster than a scan of the table.
    try connection.execute(
      "select set_config('jit', 'off', true), set_config('random_page_cost', '1.1', true)")
    if batch.seen > Self.analyzeFrom {
      // The columns that the queries join by; all columns would take several times as long.
      try connection.execute("analyze pg_temp.quake_staging (code, ids, reject_reason)")
    }
    guard mayHaveDuplicates else { return }
    batch.duplicate = Int64(try connection.execute(ImportStatements.removeDuplicates).affectedRows)
  }

  /// Merges the records that are new or different.
  func merge(_ batch: inout ImportReport) throws {
    let state = try connection.execute(ImportStatements.state, [asOf])
    let isLate = state.bool(0, 0) ?? false
    let overwrites = options.policy.overwrites
    let agency = deletions(isLate: isLate)
    let deleted = hasDeletions ? try agency.removeStaged() : nil
    let returning = overwrites && state.bool(0, 1) == true ? try agency.returning() : nil
    let statements = ImportStatements(
      columns: columns, inferred: inferred, policy: options.policy, isLate: isLate,
      hidesNew: !isLate && columns.contains(.ids)
        && (state.bool(0, 1) == true || state.bool(0, 2) == true),
      restores: returning != nil)
    if options.policy == .error { try refuseConflicts(statements) }
    try connection.execute(
      """
      select set_config('quake.author', $1, true), set_config('quake.context', $2, true),
             set_config('quake.keep_deleted', 'on', true), set_config('quake.foreign', 'off', true)
      """, [.text(options.author), .text(options.context ?? options.feed)])
    let parameters = [asOf] + (returning.map { [.text($0.codes)] } ?? [])
    let counts = try DeletedEvents(connection: connection).mergeOthers(asOf: asOf) {
      () throws(PostgresError) in try connection.execute(statements.merge, parameters)
    }
    let inserted = counts.text(0, 2)
    batch.inserted = counts.integer(0, 0) ?? 0
    batch.updated = counts.integer(0, 1) ?? 0
    let foreign =
      counts.bool(0, 4) == true
      ? try rejectForeign(with: statements.rejectForeign, &batch) : []
    batch.unchanged =
      batch.seen - batch.rejected - batch.duplicate - batch.inserted - batch.updated
    if options.policy == .incoming, try hasNewer() {
      batch.stale = try connection.execute(statements.countStale).integer(0, 0) ?? 0
    }
    if let returning {
      try agency.restore(returning)
      batch.restored += returning.count
    }
    // An event that is known as an id of another one is superseded, or has just been inserted.
    var own = counts.text(0, 3)
    if overwrites, state.bool(0, 2) == true {
      own = try connection.execute(IdentityStatements.own, [.text(own)]).text(0, 0)
    }
    try resolveIdentities(&batch, isLate: isLate, own: own, without: foreign)
    if let deleted { try agency.withdraw(deleted, &batch) }
    if overwrites { try countAbsences(&batch, inserted: inserted) }
  }

  private func deletions(isLate: Bool) -> AgencyDeletions {
    AgencyDeletions(
      connection: connection, options: options, columns: columns, asOf: asOf, isLate: isLate)
  }

  /// Rejects the staged records of events that belong to another source. Returns the codes of these events.
  private func rejectForeign(
    with statement: SQL, _ batch: inout ImportReport
  ) throws(PostgresError) -> Set<String> {
    let rejected = try connection.execute(statement)
    var codes: Set<String> = []
    for row in 0..<rejected.rowCount {
      batch.rejected += 1
      let code = rejected.text(row, 3) ?? ""
      codes.insert(code)
      guard batch.firstReject == nil else { continue }
      batch.firstReject = ImportReject(
        place: rejected.text(row, 0) ?? "", reason: rejected.text(row, 1) ?? "",
        raw: rejected.text(row, 2) ?? "", code: code)
    }
    return codes
  }

  /// Whether any claim is new.
  func hasNewClaims() throws -> Bool {
    try readClaims(without: [])?.isNull(0, 0) == false
  }

  private func hasNewer() throws -> Bool {
    try connection.execute(ImportStatements.hasNewer, [asOf]).bool(0, 0) ?? false
  }

  private func refuseConflicts(_ statements: ImportStatements) throws {
    let conflict = try connection.execute(statements.firstConflict)
    guard let code = conflict.text(0, 0), let count = conflict.integer(0, 1) else { return }
    throw ImportRefusal(
      "\(count) of the events \(count == 1 ? "is" : "are") in the store with other contents, the first: \"\(code)\"",
      hint: "Choose another merge policy to overwrite or to keep them.")
  }

  /// Updates aliases and superseded rows.
  ///
  /// - Parameters:
  ///   - own: The events of the snapshot that are known as ids of another event.
  ///   - foreign: Events whose records were rejected, so that their claims do not count.
  private func resolveIdentities(
    _ batch: inout ImportReport, isLate: Bool, own: String?, without foreign: Set<String>
  ) throws {
    let claimed = try readClaims(without: foreign)
    try resolve(claimed?.text(0, 0), by: claimed?.text(0, 1), own: own, isLate: isLate, &batch)
  }

  /// Does the same for events that were copied straight into the table, whose claims have been added as
  /// aliases.
  func resolveCopied(_ batch: inout ImportReport) throws {
    // There are few ids, and the planner has no statistics of the large table yet.
    try connection.execute(
      "select set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)"
    )
    let own = try connection.execute(IdentityStatements.ownCopied, [asOf]).text(0, 0)
    try connection.execute(
      "select set_config('enable_hashjoin', 'on', true), set_config('enable_mergejoin', 'on', true)"
    )
    try resolve(nil, by: nil, own: own, isLate: false, &batch)
  }

  /// - Parameters:
  ///   - ids: Claimed ids, as the text of an array.
  ///   - successors: The events that claim them.
  ///   - own: The events of the snapshot that are known as ids of another event.
  private func resolve(
    _ ids: String?, by successors: String?, own: String?, isLate: Bool, _ batch: inout ImportReport
  ) throws {
    guard ids != nil || own != nil else { return }
    let statements = IdentityStatements(policy: options.policy, isLate: isLate)
    try connection.execute(ImportStatements.createStaging)
    let counts = try connection.execute(
      statements.resolve, [asOf, .text(ids), .text(successors), .text(own)])
    batch.superseded += counts.integer(0, 0) ?? 0
    batch.restored += counts.integer(0, 1) ?? 0
    guard !counts.isNull(0, 2) else { return }
    try connection.execute(
      IdentityStatements.mark, (2..<7).map { .text(counts.text(0, $0)) })
  }

  /// The claimed ids and the events that claim them, where the claim is new.
  private func readClaims(without foreign: Set<String>) throws -> QueryResult? {
    guard columns.contains(.ids) else { return nil }
    guard var claims else { return try connection.execute(IdentityStatements.claimed(columns)) }
    claims.removeAll { foreign.contains($0.code) }
    guard !claims.isEmpty else { return nil }
    return try connection.execute(
      IdentityStatements.claimedAmong, [.array(claims.map(\.id)), .array(claims.map(\.code))])
  }

  /// Counts the events that are missing, and withdraws or restores events accordingly.
  ///
  /// - Parameter inserted: The events that a late snapshot has inserted; nil: none, or it is not late.
  private func countAbsences(_ batch: inout ImportReport, inserted: String?) throws {
    guard generated != nil else { return }
    let limits = options.limits
    let limit = limits?.onlyCountsAbsences == false ? limits?.withdrawnAfter : nil
    var touched = [try connection.execute(AbsenceStatements.clear, [asOf]).text(0, 0)]
    if let inserted {
      touched.append(
        try connection.execute(AbsenceStatements.countForInserted, [asOf, .text(inserted)])
          .text(0, 0))
    }
    // The service may have cut a longer snapshot off.
    let scope = batch.seen < SnapshotScope.longest ? self.scope : nil
    if let scope {
      let parameters = scope.parameters + [.text(scope.scope.name)]
      if try isLate(in: scope) {
        touched.append(
          try connection.execute(AbsenceStatements.countLate, parameters).text(0, 0))
      } else {
        let every = parameters + [.integer(limit.map { Int64($0) })]
        if try connection.execute(AbsenceStatements.count, every).integer(0, 0) ?? 0 > 0 {
          batch.withdrawn +=
            try connection.execute(AbsenceStatements.withdraw, every).integer(0, 0) ?? 0
        }
      }
    }
    guard let limit else { return }
    for case .some(let codes) in touched {
      let counts = try connection.execute(
        AbsenceStatements.review,
        [asOf, .text(codes), .text(scope?.scope.name), .integer(Int64(limit))])
      batch.withdrawn += counts.integer(0, 0) ?? 0
      batch.restored += counts.integer(0, 1) ?? 0
    }
  }

  private func isLate(in scope: SnapshotScope) throws -> Bool {
    try connection.execute(AbsenceStatements.isLate, [asOf, .text(scope.scope.name)]).bool(0, 0)
      ?? false
  }
}

/// A record's statement that an id besides its code belongs to its event.
struct IDClaim {
  let id: String
  /// The event's own code.
  let code: String
}

extension QuakeRecord {
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
