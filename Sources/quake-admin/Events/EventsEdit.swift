import CommandLine
import Postgres
import QuakeModel
import QuakeQuery
import QuakeTool

struct EventsEdit {
  private let diagnostics: Diagnostics
  private let options: EditOptions
  private let edit: EventEdit
  private let database: DatabaseAccess
  /// The ids on the command line.
  private let codes: [String]

  init(_ action: String, _ arguments: inout ParsedArguments, _ diagnostics: Diagnostics) throws {
    self.diagnostics = diagnostics
    options = try EditOptions(arguments, diagnostics)
    var words = arguments.positionals
    let wanted: EditAction
    var details = ""
    switch action {
    case "validate": wanted = .validate
    case "unvalidate": wanted = .unvalidate
    case "set":
      let assignments = words.filter { $0.contains("=") && !$0.hasPrefix("@") }
      words.removeAll { assignments.contains($0) }
      wanted = .set(try Self.assignments(assignments, arguments))
      details = assignments.joined(separator: " ")
    case "delete": wanted = .delete
    default:
      guard
        let age = try arguments.age("older-than", in: .milliseconds(1)...)
      else {
        throw arguments.usageError("--older-than is needed: an age such as 30d")
      }
      let forever = arguments.flag("forever")
      wanted = .expire(olderThan: age, forever: forever)
      details = "--older-than \(age.text)" + (forever ? " --forever" : "")
    }
    let selection = try EventsSelection(words, &arguments, diagnostics)
    if case .expire = wanted {
      // The age is a condition.
    } else if !selection.isGiven, !selection.isEveryEvent {
      throw arguments.usageError(
        "expected a condition, ids, - or @FILE; --every-event stands for all events")
    }
    let title = [details, selection.title].filter { !$0.isEmpty }.joined(separator: " ")
    edit = EventEdit(wanted, of: selection.events, by: options.author, title: title)
    database = try DatabaseAccess(arguments, diagnostics)
    codes = selection.codes.sorted()
  }

  private static func assignments(
    _ words: [String], _ arguments: ParsedArguments
  ) throws -> [EventAssignment] {
    guard !words.isEmpty else {
      throw arguments.usageError("expected COLUMN=VALUE, such as type=explosion")
    }
    var assignments: [EventAssignment] = []
    for word in words {
      guard let place = word.firstIndex(of: "=") else { continue }
      let name = word[..<place]
      guard let column = EventColumn(name: name) else {
        throw arguments.usageError(
          "unknown column '\(name)': expected one of "
            + EventAssignment.columns.map(\.name).joined(separator: ", "),
          suggestion: Suggestion.nearest(
            to: String(name), among: EventAssignment.columns.map(\.name)))
      }
      guard !assignments.contains(where: { $0.column == column }) else {
        throw arguments.usageError("column '\(name)' is set twice")
      }
      assignments.append(
        try EventAssignment(column, text: String(word[word.index(after: place)...])))
    }
    return assignments
  }

  func run() throws -> ExitStatus {
    Signals.install()
    let connection = try database.connectToStore(
      answerTimeout: .seconds(3600), wake: Signals.wakeDescriptor)
    let batch = BatchEdit(edit, over: connection)
    if !codes.isEmpty { warn(ofUnknown: try batch.unknown(codes)) }
    if options.isDryRun || options.consent.asks {
      let plan = try batch.plan()
      if options.isDryRun {
        try EditOutput.write(plan, of: edit, isJSON: options.isJSON)
        return .ok
      }
      guard plan.count > 0 else {
        diagnostics.note("no event meets the conditions; nothing was changed")
        return .ok
      }
      try EditOutput.write(plan, of: edit, isJSON: false, descriptor: 2)
      guard options.consent.isGiven("\(question) \(Readable.count(plan.count, "event"))?") else {
        return .failed
      }
    }
    let progress = EditProgress(EditOutput.verb(edit.action.name), diagnostics)
    let outcome = try progress.report { report in
      try batch.run(shouldStop: { Signals.stopRequested }, progress: report)
    }
    if options.isJSON || diagnostics.verbosity > .quiet {
      try EditOutput.write(outcome, of: edit.action.name, isJSON: options.isJSON)
    }
    return EditOutput.status(of: outcome, diagnostics)
  }

  /// Reports ids that no event has: the edit is made without them.
  private func warn(ofUnknown codes: [String]) {
    guard !codes.isEmpty else { return }
    let most = 5
    var names = codes.prefix(most).map { "\"\($0)\"" }.joined(separator: ", ")
    if codes.count > most { names += " and \(Readable.count(codes.count - most)) more" }
    diagnostics.warning(
      codes.count == 1
        ? "no event has the id \(names)"
        : "no event has \(Readable.count(codes.count)) of the ids: \(names)",
      hint:
        "An edit knows an event by its code. The SQL function quake.find finds it by any of its ids.",
      fields: ["unknown": .integer(Int64(codes.count))])
  }

  private var question: String {
    switch edit.action {
    case .validate: "Validate"
    case .unvalidate: "Remove the validation of"
    case .set: "Change"
    case .delete: "Delete"
    case .expire: "Expire"
    }
  }
}
