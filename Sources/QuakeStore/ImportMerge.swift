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

  /// Up to this many rows the planner's guess of a fresh temporary table is good enough.
  private static let analyzeFrom = 1_000

  private var asOf: Parameter { .text(generated?.description) }

  /// Makes the staged records ready for questions: of each code there is one.
  func prepare(_ batch: inout ImportReport) throws {
    // What a feed is about is in memory: a few thousand events are looked up sooner than all are read.
    try connection.execute(
      "select set_config('jit', 'off', true), set_config('random_page_cost', '1.1', true)")
    if batch.seen > Self.analyzeFrom {
      // What the questions join by; all columns would take several times as long.
      try connection.execute("analyze pg_temp.quake_staging (code, ids, reject_reason)")
    }
    batch.duplicate = Int64(try connection.execute(ImportStatements.removeDuplicates).affectedRows)
  }

  /// Merges what is new or different.
  func merge(_ batch: inout ImportReport) throws {
    let isLate = try connection.execute(ImportStatements.isLate, [asOf]).bool(0, 0) ?? false
    let statements = ImportStatements(columns: columns, policy: options.policy, isLate: isLate)
    if options.policy == .error { try refuseConflicts(statements) }
    try connection.execute(
      "select set_config('quake.author', $1, true), set_config('quake.context', $2, true)",
      [.text(options.author), .text(options.context ?? options.feed)])
    let overwrites = options.policy == .incoming || options.policy == .always
    if overwrites { batch.restored = try count(IdentityStatements.restore) }
    let counts = try connection.execute(statements.merge, [asOf])
    batch.inserted = counts.integer(0, 0) ?? 0
    batch.updated = counts.integer(0, 1) ?? 0
    batch.unchanged =
      batch.seen - batch.rejected - batch.duplicate - batch.inserted - batch.updated
    if options.policy == .incoming, try hasNewer() {
      batch.stale = try connection.execute(statements.countStale).integer(0, 0) ?? 0
    }
    if overwrites { try settle(&batch) }
  }

  private func hasNewer() throws -> Bool {
    try connection.execute(ImportStatements.hasNewer, [asOf]).bool(0, 0) ?? false
  }

  private func refuseConflicts(_ statements: ImportStatements) throws {
    let conflict = try connection.execute(statements.firstConflict)
    guard let code = conflict.text(0, 0), let count = conflict.integer(0, 1) else { return }
    throw StoreError(
      .badData,
      "\(count) of the events \(count == 1 ? "is" : "are") in the store with other contents, the first: \"\(code)\"",
      detail: "Nothing was imported.",
      hint: "Choose another merge policy to overwrite or to keep them.")
  }

  /// Which rows stand for an earthquake now.
  private func settle(_ batch: inout ImportReport) throws {
    if columns.contains(.ids) {
      batch.superseded = try supersede(
        IdentityStatements.claimed, IdentityStatements.supersede)
    }
    batch.superseded += try supersede(
      IdentityStatements.known, IdentityStatements.supersedeLate)
    if batch.superseded > 0 {
      for statement in IdentityStatements.settleAliases { try connection.execute(statement) }
    }
    guard let generated else { return }
    try connection.execute(AbsenceStatements.clear, [asOf])
    // What is late says nothing of what is missing now, and what is longer may have been cut off.
    guard let scope, batch.seen < SnapshotScope.longest, try !isLate(in: scope) else { return }
    let parameters = scope.parameters + [.text(scope.scope.name)]
    try connection.execute(AbsenceStatements.forget, parameters)
    try connection.execute(AbsenceStatements.count, parameters)
    guard let limits = options.limits, let often = limits.withdrawnAfter,
      !limits.onlyCountsAbsences
    else { return }
    batch.withdrawn =
      try connection.execute(
        AbsenceStatements.withdraw,
        [.text(generated.description), .text(scope.scope.name), .integer(Int64(often))]
      ).integer(0, 0) ?? 0
  }

  /// - Parameter pairs: Asks which events may give way, and to which.
  private func supersede(_ pairs: SQL, _ statement: SQL) throws -> Int64 {
    let arrays = try connection.execute(pairs)
    guard let ids = arrays.text(0, 0), let successors = arrays.text(0, 1) else { return 0 }
    return try connection.execute(statement, [asOf, .text(ids), .text(successors)])
      .integer(0, 0) ?? 0
  }

  private func count(_ statement: SQL) throws -> Int64 {
    try connection.execute(statement, [asOf]).integer(0, 0) ?? 0
  }

  /// Also when it is the very snapshot that was applied last: that counts once.
  private func isLate(in scope: SnapshotScope) throws -> Bool {
    try connection.execute(ImportStatements.isLateInScope, scope.parameters).bool(0, 0) ?? false
  }
}
