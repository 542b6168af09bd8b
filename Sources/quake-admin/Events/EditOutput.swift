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
      var json = JSONWriter()
      json.plan(plan, of: edit.action)
      json.newline()
      try output.write(json.bytes)
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
      var json = JSONWriter()
      json.plan(plan)
      json.newline()
      try output.write(json.bytes)
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
      var json = JSONWriter()
      json.outcome(outcome, of: action)
      json.newline()
      try output.write(json.bytes)
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
