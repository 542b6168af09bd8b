internal import Postgres
internal import QuakeModel

/// Brings what is staged into the store: the contents first, then which rows stand for an earthquake.
struct ImportMerge {
  let connection: Connection
  let options: ImportOptions
  let columns: [QuakeColumn]
  /// When the snapshot was generated; nil: nobody knows.
  let generated: Timestamp?
  /// What it should hold; nil: nobody knows.
  let scope: SnapshotScope?
  /// The ids that staged events claim and no staged event has, where that has been found out already.
  var claims: [IDClaim]?

  /// Up to this many rows the planner's guess of a fresh temporary table is good enough.
  private static let analyzeFrom = 20_000

  private var asOf: Parameter { .text(generated?.description) }

  /// Makes the staged records ready for questions: of each code there is one.
  ///
  /// - Parameter mayHaveDuplicates: Whether that is not known to be so.
  func prepare(_ batch: inout ImportReport, mayHaveDuplicates: Bool) throws {
    // What a feed is about is in memory: a few thousand events are looked up sooner than all are read.
    try connection.execute(
      "select set_config('jit', 'off', true), set_config('random_page_cost', '1.1', true)")
    if batch.seen > Self.analyzeFrom {
      // What the questions join by; all columns would take several times as long.
      try connection.execute("analyze pg_temp.quake_staging (code, ids, reject_reason)")
    }
    guard mayHaveDuplicates else { return }
    batch.duplicate = Int64(try connection.execute(ImportStatements.removeDuplicates).affectedRows)
  }

  /// Merges what is new or different.
  func merge(_ batch: inout ImportReport) throws {
    let state = try connection.execute(ImportStatements.state, [asOf])
    let isLate = state.bool(0, 0) ?? false
    let statements = ImportStatements(columns: columns, policy: options.policy, isLate: isLate)
    if options.policy == .error { try refuseConflicts(statements) }
    try connection.execute(
      "select set_config('quake.author', $1, true), set_config('quake.context', $2, true)",
      [.text(options.author), .text(options.context ?? options.feed)])
    let overwrites = options.policy == .incoming || options.policy == .always
    if overwrites, state.bool(0, 1) == true {
      batch.restored += try count(IdentityStatements.restore)
    }
    let counts = try connection.execute(statements.merge, [asOf])
    let brought = counts.text(0, 2)
    batch.inserted = counts.integer(0, 0) ?? 0
    batch.updated = counts.integer(0, 1) ?? 0
    batch.unchanged =
      batch.seen - batch.rejected - batch.duplicate - batch.inserted - batch.updated
    if options.policy == .incoming, try hasNewer() {
      batch.stale = try connection.execute(statements.countStale).integer(0, 0) ?? 0
    }
    // An event that is known to belong to another one has given way to it, or has just come.
    var own = counts.text(0, 3)
    if overwrites, state.bool(0, 2) == true {
      own = try connection.execute(IdentityStatements.own, [.text(own)]).text(0, 0)
    }
    try settleIdentities(&batch, isLate: isLate, own: own)
    if overwrites { try settleAbsences(&batch, brought: brought) }
  }

  /// Whether anything that is claimed is not known yet.
  func hasNewClaims() throws -> Bool {
    try readClaims()?.isNull(0, 0) == false
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

  /// Which rows stand for an earthquake now.
  ///
  /// - Parameter own: The events of the snapshot that are known to belong to another one.
  private func settleIdentities(
    _ batch: inout ImportReport, isLate: Bool, own: String?
  ) throws {
    let claimed = try readClaims()
    try settle(claimed?.text(0, 0), by: claimed?.text(0, 1), own: own, isLate: isLate, &batch)
  }

  /// Does so for events that were copied straight into the table: other ids of theirs were looked at
  /// then.
  func settleCopied(_ batch: inout ImportReport) throws {
    // Few ids are looked up in a large table that nothing is known about yet.
    try connection.execute(
      "select set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)"
    )
    let own = try connection.execute(IdentityStatements.ownCopied, [asOf]).text(0, 0)
    try connection.execute(
      "select set_config('enable_hashjoin', 'on', true), set_config('enable_mergejoin', 'on', true)"
    )
    try settle(nil, by: nil, own: own, isLate: false, &batch)
  }

  /// - Parameters:
  ///   - ids: Ids that are claimed, as an array in text.
  ///   - successors: By which events.
  ///   - own: Events that the snapshot has as events of their own.
  private func settle(
    _ ids: String?, by successors: String?, own: String?, isLate: Bool, _ batch: inout ImportReport
  ) throws {
    guard ids != nil || own != nil else { return }
    let statements = IdentityStatements(policy: options.policy, isLate: isLate)
    try connection.execute(ImportStatements.createStaging)
    let counts = try connection.execute(
      statements.settle, [asOf, .text(ids), .text(successors), .text(own)])
    batch.superseded += counts.integer(0, 0) ?? 0
    batch.restored += counts.integer(0, 1) ?? 0
  }

  /// The ids that are claimed, and by which events, where that is news.
  private func readClaims() throws -> QueryResult? {
    guard columns.contains(.ids) else { return nil }
    guard let claims else { return try connection.execute(IdentityStatements.claimed) }
    guard !claims.isEmpty else { return nil }
    return try connection.execute(
      IdentityStatements.claimedAmong, [.array(claims.map(\.id)), .array(claims.map(\.code))])
  }

  /// Which events are missing.
  ///
  /// - Parameter brought: The events that a late snapshot has brought; nil: none, or it is not late.
  private func settleAbsences(_ batch: inout ImportReport, brought: String?) throws {
    guard generated != nil else { return }
    let limits = options.limits
    let often = limits?.onlyCountsAbsences == false ? limits?.withdrawnAfter : nil
    var touched = [try connection.execute(AbsenceStatements.clear, [asOf]).text(0, 0)]
    if let brought {
      touched.append(
        try connection.execute(AbsenceStatements.bringLate, [asOf, .text(brought)]).text(0, 0))
    }
    // What is longer may have been cut off.
    let scope = batch.seen < SnapshotScope.longest ? self.scope : nil
    if let scope {
      let parameters = scope.parameters + [.text(scope.scope.name)]
      if try isLate(in: scope) {
        touched.append(
          try connection.execute(AbsenceStatements.countLate, parameters).text(0, 0))
      } else {
        let every = parameters + [.integer(often.map { Int64($0) })]
        if try connection.execute(AbsenceStatements.count, every).integer(0, 0) ?? 0 > 0 {
          batch.withdrawn =
            try connection.execute(AbsenceStatements.withdraw, every).integer(0, 0) ?? 0
        }
      }
    }
    guard let often else { return }
    for case .some(let codes) in touched {
      let counts = try connection.execute(
        AbsenceStatements.review,
        [asOf, .text(codes), .text(scope?.scope.name), .integer(Int64(often))])
      batch.withdrawn += counts.integer(0, 0) ?? 0
      batch.restored += counts.integer(0, 1) ?? 0
    }
  }

  private func count(_ statement: SQL) throws -> Int64 {
    try connection.execute(statement, [asOf]).integer(0, 0) ?? 0
  }

  private func isLate(in scope: SnapshotScope) throws -> Bool {
    try connection.execute(AbsenceStatements.isLate, [asOf, .text(scope.scope.name)]).bool(0, 0)
      ?? false
  }
}
