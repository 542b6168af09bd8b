import Basics
import CommandLine
import QuakeModel
import QuakeQuery
import QuakeTool

/// The planned or the actual effects of a batch edit, as text or as a JSON object.
enum EditOutput {
  /// The verb that reports an action on the events as done.
  static func verb(_ action: String) -> String {
    switch action {
    case "validate": "validated"
    case "unvalidate": "removed the validation of"
    case "set": "changed"
    case "delete": "deleted"
    case "expire": "expired"
    default: "restored"
    }
  }

  static func were(_ count: Int64) -> String { count == 1 ? "was" : "were" }

  /// Why deleted events cannot be restored.
  static func lossReason(_ count: Int64) -> String {
    "the history of \(count == 1 ? "its" : "their") deletion was purged, or "
      + "\(count == 1 ? "it was" : "they were") never stored"
  }

  static func write(
    _ plan: EditPlan, of edit: EventEdit, isJSON: Bool, descriptor: Int32 = 1
  ) throws {
    let output = StandardOutput(descriptor: descriptor)
    if isJSON {
      try output.writeJSON { $0.plan(plan, of: edit.action) }
    } else {
      let text = ChangeText(for: output)
      try output.writeLine(Readable.count(plan.count, "event"))
      for event in plan.sample { try output.writeLine("  " + text.describe(event)) }
      if plan.count > plan.sample.count { try output.writeLine("  ...") }
    }
    try output.flush()
  }

  static func write(
    _ plan: RestorePlan, isForced: Bool, isJSON: Bool, descriptor: Int32 = 1
  ) throws {
    let output = StandardOutput(descriptor: descriptor)
    if isJSON {
      try output.writeJSON { $0.plan(plan) }
    } else {
      try output.writeLine(
        """
        \(Readable.count(plan.count, "event")): \(Readable.count(Int(plan.inserted))) to insert again, \
        \(Readable.count(Int(plan.updated))) with old values, \(Readable.count(Int(plan.deleted))) to delete
        """)
      for code in plan.sample { try output.writeLine("  " + PrintableText.line(code)) }
      if plan.count > plan.sample.count { try output.writeLine("  ...") }
      if plan.unchanged > 0 {
        try output.writeLine(
          "\(Readable.count(plan.unchanged, "event")) \(plan.unchanged == 1 ? "is as it was" : "are as they were")"
        )
      }
      if plan.lost > 0 {
        var line =
          "\(Readable.count(plan.lost, "event")) cannot be restored: \(lossReason(plan.lost))"
        if isForced {
          line += "; \(plan.lost == 1 ? "its tombstone is" : "their tombstones are") removed"
        }
        try output.writeLine(line)
      }
      if plan.conflictCount > 0 {
        try output.writeLine(
          "\(Readable.count(plan.conflictCount, "event")) \(were(plan.conflictCount)) changed since:"
        )
        for conflict in plan.conflicts {
          let transaction = conflict.transaction.map { " in \($0)" } ?? ""
          try output.writeLine("  " + PrintableText.line(conflict.code) + transaction)
        }
      }
    }
    try output.flush()
  }

  static func write(_ outcome: EditOutcome, of action: String, isJSON: Bool) throws {
    let output = StandardOutput()
    if isJSON {
      try output.writeJSON { $0.outcome(outcome, of: action) }
    } else {
      var line = "\(verb(action)) \(Readable.count(outcome.changed, "event"))"
      if outcome.changedBefore > 0 {
        line += ", after \(Readable.count(Int(outcome.changedBefore))) in an earlier run"
      }
      if let edit = outcome.edit, let first = outcome.first, let last = outcome.last {
        line += "; edit \(edit), "
        line +=
          outcome.transactions == 1
          ? "transaction \(first)"
          : "\(Readable.count(outcome.transactions, "transaction")) from \(first) to \(last)"
      }
      try output.writeLine(line)
      let removed = outcome.tombstonesRemoved
      if removed > 0 {
        try output.writeLine(
          """
          removed \(Readable.count(removed, "tombstone")): \
          \(removed == 1 ? "the event" : "the events") cannot be restored, but a feed may store \
          \(removed == 1 ? "it" : "them") again
          """)
      }
      if outcome.lost > removed {
        try output.writeLine(
          "\(Readable.count(outcome.lost - removed, "event")) could not be restored")
      }
    }
    try output.flush()
  }

  /// The exit status, after a warning if the edit was stopped.
  static func status(of outcome: EditOutcome, _ diagnostics: Diagnostics) -> ExitStatus {
    guard !outcome.isFinished else { return .ok }
    diagnostics.warning(
      "stopped after \(Readable.count(Int(outcome.changed))) of \(Readable.count(outcome.selected, "event"))",
      hint: "These are done. The same command does the rest.")
    return .ok
  }
}

/// The progress of a batch edit on standard error: a bar on a terminal, else a line every ten seconds.
final class EditProgress {
  private let label: String
  private let bar: ProgressBar
  private let diagnostics: Diagnostics
  private var done: Int64 = 0
  private var selected: Int64 = 0
  private var timer = PeriodicTimer(.seconds(10))

  init(_ label: String, _ diagnostics: Diagnostics) {
    self.label = label
    self.diagnostics = diagnostics
    bar = ProgressBar(label, unit: .items("events"), diagnostics: diagnostics)
  }

  func update(_ done: Int64, of selected: Int64) {
    self.done = done
    self.selected = selected
    bar.total = Int(selected)
    bar.update(done: Int(done))
    guard !Terminal.isTerminal(diagnostics.descriptor), timer.fireIfDue() else { return }
    diagnostics.note(
      "\(label): \(Readable.count(Int(done))) of \(Readable.count(selected, "event"))",
      fields: ["done": .integer(done), "selected": .integer(selected)])
  }

  func finish() { bar.finish() }

  /// Runs an edit. If an error ends it, reports before how much is done.
  ///
  /// - Parameter body: Runs the edit with what to call for its progress.
  func report(
    _ body: (_ progress: (_ done: Int64, _ selected: Int64) -> Void) throws -> EditOutcome
  ) throws -> EditOutcome {
    do {
      let outcome = try body { update($0, of: $1) }
      bar.finish()
      return outcome
    } catch {
      bar.finish()
      if done > 0 {
        diagnostics.warning(
          "interrupted after \(Readable.count(Int(done))) of \(Readable.count(selected, "event"))",
          hint: "These are done. The same command does the rest.",
          fields: ["done": .integer(done), "selected": .integer(selected)])
      }
      throw error
    }
  }
}

/// The options of all batch edits, besides those that select events.
struct EditOptions {
  static let options: [Option] = [
    .flag("dry-run", help: "print the number of events and the first of them; change nothing")
      .onCommandLineOnly(),
    Consent.option,
    .value("author", "NAME", default: "quake-admin", help: "author of the changes, in the history")
      .onCommandLineOnly(),
    .value(
      "context", "TEXT", default: "the action and the number of the edit",
      help: "why, in the history"
    ).onCommandLineOnly(),
    .flag("json", help: "print the result as a JSON object").onCommandLineOnly(),
  ]

  let isDryRun: Bool
  let consent: Consent
  let isJSON: Bool
  let author: EditAuthor

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    isDryRun = arguments.flag("dry-run")
    isJSON = arguments.flag("json")
    for (name, most) in [("author", 200), ("context", 2000)] {
      guard let text = arguments.string(name) else { continue }
      guard text.unicodeScalars.count <= most, !text.utf8.contains(0) else {
        throw arguments.invalidValue(
          String(text.prefix(40)) + "…", for: name, expected: "at most \(most) characters")
      }
    }
    author = EditAuthor(
      program: "\(diagnostics.tool) \(productVersion)",
      author: arguments.string("author") ?? diagnostics.tool,
      context: arguments.string("context"))
    consent = try Consent(arguments, diagnostics)
  }
}
