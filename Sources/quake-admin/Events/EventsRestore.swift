import CommandLine
import Postgres
import QuakeModel
import QuakeQuery
import QuakeTool

struct EventsRestore {
  private let diagnostics: Diagnostics
  private let options: EditOptions
  private let restore: EventRestore
  private let database: DatabaseAccess

  init(_ arguments: inout ParsedArguments, _ diagnostics: Diagnostics) throws {
    self.diagnostics = diagnostics
    options = try EditOptions(arguments, diagnostics)
    try arguments.requireAtMostOne(of: "transaction", "edit")
    let selection = try EventsSelection(arguments.positionals, &arguments, diagnostics)
    let source: EventRestore.Source
    var title = selection.title
    if arguments.isGiven("transaction") || arguments.isGiven("edit") {
      let name = arguments.isGiven("edit") ? "edit" : "transaction"
      guard !selection.isGiven, !selection.isEveryEvent, selection.events.limit == nil else {
        throw arguments.usageError("option --\(name) cannot be used with conditions or ids")
      }
      if let id = try arguments.integer("edit", in: 1...) {
        source = .edit(Int64(id))
        title = "--edit \(id)"
      } else {
        let tokens = try arguments.tokens("transaction")
        source = .transactions(tokens)
        title = tokens.map { "--transaction \($0)" }.joined(separator: " ")
      }
    } else {
      guard selection.isGiven || selection.isEveryEvent else {
        throw arguments.usageError(
          "expected --transaction, --edit, a condition, ids, - or @FILE; --every-event stands for all deleted events"
        )
      }
      source = .events(selection.events)
    }
    restore = EventRestore(
      source, isForced: arguments.flag("force"), by: options.author, title: title)
    database = try DatabaseAccess(arguments, diagnostics)
  }

  func run() throws -> ExitStatus {
    Signals.install()
    let connection = try database.connectToStore(
      answerTimeout: .seconds(3600), wake: Signals.wakeDescriptor)
    let batch = BatchRestore(restore, over: connection)
    let looking = EditProgress("looking for later changes", diagnostics)
    let plan = try batch.plan { looking.update($0, of: $1) }
    looking.finish()
    if options.isDryRun {
      try EditOutput.write(plan, isForced: restore.isForced, isJSON: options.isJSON)
      return plan.conflictCount > 0 && !restore.isForced ? .failed : .ok
    }
    if plan.conflictCount > 0, !restore.isForced {
      if options.isJSON { try EditOutput.write(plan, isForced: false, isJSON: true) }
      report(
        plan.conflicts, plan.conflictCount,
        "cannot restore: \(Readable.count(Int(plan.conflictCount))) of the events \(EditOutput.were(plan.conflictCount)) changed since",
        "Nothing was restored. --force overwrites the later changes.")
      return .failed
    }
    if plan.lost > 0, !restore.isForced {
      diagnostics.warning(
        "cannot restore \(Readable.count(Int(plan.lost))) of the events: \(EditOutput.lossReason(plan.lost))",
        hint:
          "With --force, the tombstones are removed, so that the next snapshot that has the events stores them anew."
      )
    }
    let forced = restore.isForced ? plan.conflictCount + plan.lost : 0
    guard plan.count + forced > 0 else {
      diagnostics.note("there is nothing to restore")
      if options.isJSON { try EditOutput.write(EditOutcome(), of: "restore", isJSON: true) }
      return plan.lost > 0 ? .failed : .ok
    }
    if options.consent.asks {
      try EditOutput.write(plan, isForced: restore.isForced, isJSON: false, descriptor: 2)
      guard options.consent.isGiven("Restore \(Readable.count(plan.count + forced, "event"))?")
      else { return .failed }
    }
    let outcome = try EditProgress("restored", diagnostics).report { progress in
      try batch.run(shouldStop: { Signals.stopRequested }, progress: progress)
    }
    if options.isJSON || diagnostics.verbosity > .quiet {
      try EditOutput.write(outcome, of: "restore", isJSON: options.isJSON)
    }
    if outcome.conflictCount > 0 {
      report(
        outcome.conflicts, outcome.conflictCount,
        "\(Readable.count(outcome.conflictCount, "event")) \(EditOutput.were(outcome.conflictCount)) changed meanwhile, and not restored",
        "The others were restored. --force overwrites the later changes.")
      return .failed
    }
    let status = EditOutput.status(of: outcome, diagnostics)
    return status == .ok && plan.lost > 0 && !restore.isForced ? .failed : status
  }

  private func report(
    _ conflicts: [RestorePlan.Conflict], _ count: Int64, _ message: String, _ hint: String
  ) {
    var lines = conflicts.prefix(20).map { conflict in
      guard let transaction = conflict.transaction else { return "\(conflict.code): removed since" }
      let author = conflict.author.map { " by \($0)" } ?? ""
      return
        "\(conflict.code): \(conflict.operation?.rawValue ?? "change") in \(transaction)\(author)"
    }
    if count > lines.count { lines.append("and \(Readable.count(Int(count) - lines.count)) more") }
    diagnostics.error(message, detail: lines.joined(separator: "\n"), hint: hint)
  }
}

extension ParsedArguments {
  /// All values of an option as tokens.
  fileprivate func tokens(_ name: String) throws -> [ChangeToken] {
    try strings(name).map { text in
      guard let token = ChangeToken(text), token != .beginning else {
        throw StoreError(
          .token(.malformed), "malformed token \"\(text)\"",
          hint: "A token is a number, a dot and 8 hexadecimal digits, such as 1042.9f3ac2d1.")
      }
      return token
    }
  }
}
