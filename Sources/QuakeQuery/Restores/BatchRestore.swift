package import Postgres
internal import QuakeHistory
internal import QuakeModel

/// Undoes transactions or edits, or restores deleted events: many short transactions, like `BatchEdit`.
///
/// Restored events are what they were in all columns that the history records, and in when they were first
/// stored. Events that later transactions changed in the same columns are conflicts, and stay as they are unless
/// the restore is forced.
package struct BatchRestore {
  private typealias Step = RestoreStatements.Step

  private struct Event {
    let code: String
    let step: Step
    let before: Int64?
    let after: Int64?
    /// The change that is in the way, if one is.
    let conflict: RestorePlan.Conflict?
  }

  private let restore: EventRestore
  private let connection: Connection

  /// The most conflicts that are returned one by one.
  private static let mostConflicts = 100

  /// A restore over a connection, which nothing else uses while it runs.
  package init(_ restore: EventRestore, over connection: Connection) {
    self.restore = restore
    self.connection = connection
  }

  /// Computes the effects of the restore without making it.
  ///
  /// - Parameters:
  ///   - sample: The most codes to return.
  ///   - progress: Is called now and then with the number of events examined, and of all.
  /// - Throws: `StoreError` of kind `token` if a token is not of this history, or if the history before it was
  ///   purged; of kind `unknownEdit` if there is no such edit; of kind `badData` if a transaction cannot be
  ///   undone.
  package func plan(
    sample: Int = 10, progress: (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
  ) throws -> RestorePlan {
    let scope = try scope()
    var (codes, _) = try codes(scope)
    var plan = RestorePlan()
    let all = codes.count
    while case let wanted = codes.next(2000), !wanted.isEmpty {
      for event in try steps(wanted, scope) {
        if let conflict = event.conflict {
          plan.conflictCount += 1
          if plan.conflicts.count < Self.mostConflicts { plan.conflicts.append(conflict) }
          continue
        }
        switch event.step {
        case .insert, .replace: plan.inserted += 1
        case .update: plan.updated += 1
        case .delete: plan.deleted += 1
        case .done, .gone: plan.unchanged += 1
        case .lost: plan.lost += 1
        }
        if event.step != .done, event.step != .lost, plan.sample.count < sample {
          plan.sample.append(event.code)
        }
      }
      progress(all - codes.left, all)
    }
    return plan
  }

  /// Restores.
  ///
  /// A caller that wants all or nothing asks for the plan first: events that are conflicts are left as they
  /// are, and the outcome lists them.
  ///
  /// - Parameters:
  ///   - shouldStop: Is asked after each transaction. The same restore again does the rest.
  ///   - progress: Is called after each transaction with the number of events done, and of all.
  /// - Throws: As `plan`; `StoreError` of kind `locked` if other sessions keep events locked.
  package func run(
    shouldStop: () -> Bool = { false },
    progress: (_ done: Int64, _ all: Int64) -> Void = { _, _ in }
  ) throws -> EditOutcome {
    var outcome = EditOutcome()
    let scope = try scope()
    let (codes, alone) = try codes(scope)
    outcome.selected = codes.count
    guard codes.count > 0 else {
      outcome.isFinished = true
      return outcome
    }
    let journal =
      try EditJournal.interrupted(
        "restore", title: restore.title, by: restore.author, over: connection)
      ?? .begin("restore", title: restore.title, by: restore.author, over: connection)
    try journal.run(codes, &outcome, done: "restored", shouldStop, progress) {
      chunk, outcome, locked in
      do {
        var part = EditOutcome()
        part.changed = try journal.transaction { try change(chunk, scope, alone, journal, &part) }
        outcome.changed += part.changed
        outcome.lost += part.lost
        outcome.tombstonesRemoved += part.tombstonesRemoved
        outcome.conflictCount += part.conflictCount
        outcome.conflicts += part.conflicts.prefix(Self.mostConflicts - outcome.conflicts.count)
        return true
      } catch let error as PostgresError where EditJournal.mayRepeat(error) {
        for code in chunk { locked.append(code) }
        return false
      }
    }
    return outcome
  }

  /// The transactions to undo; nil: deleted events are restored.
  private func scope() throws -> RestoreScope? {
    switch restore.source {
    case .transactions(let tokens): return try RestoreScope(tokens, over: connection)
    case .edit(let id):
      let scope = try RestoreScope(edit: id, over: connection)
      guard scope.purged == 0 || restore.isForced else {
        throw StoreError(
          .token(.expired),
          "cannot undo edit \(id): the history before \(scope.purged) of its transactions was purged",
          hint: "With --force, only the others are undone: \(scope.transactions.count).")
      }
      return scope
    case .events: return nil
    }
  }

  /// The events, and those of them whose successors stay deleted.
  private func codes(_ scope: RestoreScope?) throws -> (CodeList, alone: [String]) {
    guard let scope else {
      guard case .events(let selection) = restore.source else { return (CodeList(), []) }
      return try DeletedSelection.codes(of: selection, over: connection)
    }
    var codes = CodeList()
    try connection.forEachRow(RestoreStatements.codes(of: scope.transactions)) { row in
      codes.append(contentsOf: try row.bytes("code"))
    }
    return (codes, [])
  }

  private func steps(_ codes: [String], _ scope: RestoreScope?) throws -> [Event] {
    let statement =
      if let scope {
        RestoreStatements.undoSteps(on: codes, undoing: scope.transactions)
      } else {
        RestoreStatements.deletedSteps(on: codes)
      }
    return try connection.rows(statement) { row throws(PostgresError) in
      let code: String = try row["code"]
      var conflict: RestorePlan.Conflict?
      if try row["is_in_way"] {
        let operation: String? = try row["op"]
        conflict = RestorePlan.Conflict(
          code: code, operation: operation.flatMap { ChangeOperation(rawValue: $0) },
          transaction: try row["token"], author: try row["author"])
      }
      return Event(
        code: code, step: try row["step"], before: try row["before"], after: try row["after"],
        conflict: conflict)
    }
  }

  /// Restores events in the transaction that is open. Returns how many, and the code of one.
  private func change(
    _ codes: [String], _ scope: RestoreScope?, _ alone: [String], _ journal: EditJournal,
    _ part: inout EditOutcome
  ) throws -> (events: Int64, code: String?) {
    // Rows that are locked do not change while the next statements look at them.
    try connection.execute(RestoreStatements.lock(codes))
    var chosen: [Step: [Event]] = [:]
    for event in try steps(codes, scope) {
      if let conflict = event.conflict, !restore.isForced {
        part.conflictCount += 1
        part.conflicts.append(conflict)
      } else {
        chosen[event.step, default: []].append(event)
      }
    }
    let lost = chosen[.lost] ?? []
    part.lost = Int64(lost.count)
    if !lost.isEmpty, restore.isForced {
      let removed = try connection.execute(RestoreStatements.forget(lost.map(\.code)))
      part.tombstonesRemoved = Int64(removed.affectedRows)
    }
    let replaced = chosen[.replace] ?? []
    if !replaced.isEmpty {
      try connection.execute(RestoreStatements.replace(replaced.map(\.code)))
    }
    let inserted = (chosen[.insert] ?? []) + replaced
    if !inserted.isEmpty {
      try connection.execute(
        RestoreStatements.insert(
          inserted.map(\.code), as: inserted.map { $0.before ?? 0 }, alone: alone))
    }
    let updated = chosen[.update] ?? []
    if !updated.isEmpty {
      try connection.execute(
        RestoreStatements.update(
          updated.map(\.code), to: updated.map { $0.before ?? 0 },
          from: updated.map { $0.after ?? 0 }))
    }
    try noteMarksOfImports(inserted + updated)
    let deleted = chosen[.delete] ?? []
    if !deleted.isEmpty {
      try connection.execute(RestoreStatements.free(from: deleted.map(\.code)))
      try connection.execute(RestoreStatements.delete(deleted.map(\.code), edit: journal.id))
    }
    let changed = inserted + updated + deleted
    return (Int64(changed.count), changed.first?.code)
  }

  /// Keeps the note of the marks that imports had set and that came back, and of those that are gone, because
  /// imports change no mark that a person has set.
  private func noteMarksOfImports(_ events: [Event]) throws(PostgresError) {
    guard !events.isEmpty else { return }
    let codes = events.map(\.code)
    let (before, after) = (events.map { $0.before ?? 0 }, events.map { $0.after ?? 0 })
    try connection.execute(RestoreStatements.noteSuperseded(codes, to: before, from: after))
    let (withdrawn, feeds, times) = try connection.row(
      RestoreStatements.withdrawnByImports(codes, to: before, from: after),
      as: (String?, String?, String?).self)
    if let withdrawn {
      try connection.execute(
        RestoreStatements.noteWithdrawn(withdrawn, from: feeds, at: times))
    }
    let returned = try connection.row(
      RestoreStatements.returned(codes, from: after), as: String?.self)
    if let returned { try connection.execute(RestoreStatements.forgetAbsences(returned)) }
  }
}
