import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeTool

/// `quake-query history`: prints or counts changes, or lists their codes or transactions.
enum HistoryCommand {
  static let table = Command(
    "history", purpose: "print or count committed changes",
    discussion: """
      By default, this command prints all changes from the oldest one that the history still holds to \
      the newest one at the start of the command. A change must meet all conditions; it meets a \
      condition on the event if the event met it before or after the change.
      """,
    options: HistoryQueryOptions.selection + [
      .limit(help: "at most N changes, codes or transactions, whichever are printed"),
      .flag("count", help: "print only the number of changes"),
      .flag("codes", help: "print only the codes of the events, each once"),
      .flag("transactions", help: "print transactions, each with its changes"),
      .flag("json", help: "one JSON object a line"),
      .output(),
    ],
    examples: [
      .init(
        "quake-query history --code us7000pn9s --changed magnitude", "the changes of its magnitude"),
      .init(
        "quake-query history --since 2026-11-20 --count", "the number of changes since that day"),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    var request = try HistoryQueryOptions.query(arguments)
    request.limit = try arguments.integer("limit", in: 1...).map { Int64($0) }
    try arguments.requireAtMostOne(of: "count", "codes", "transactions")
    let lines = Lines(arguments)
    var isEmpty = true
    Signals.install()
    let connection = try QueryCommand.connect(arguments, diagnostics)
    if arguments.flag("count") {
      isEmpty = false
      let count = try request.count(over: connection)
      try lines.writeObject(text: "\(count)") { $0.member("count", count) }
    } else if arguments.flag("codes") {
      try request.codes(over: connection) { code in
        isEmpty = false
        try lines.writeObject(text: PrintableText.line(code)) { $0.member("code", code) }
      }
    } else if arguments.flag("transactions") {
      try printTransactions(request, connection, lines) { isEmpty = false }
    } else {
      try printChanges(request, connection, lines) { isEmpty = false }
    }
    try lines.flush()
    if isEmpty {
      EmptyResult.announce("no change of the history meets the conditions", diagnostics)
    }
    return .ok
  }

  private static func printChanges(
    _ request: HistoryQuery, _ connection: Connection, _ lines: Lines, onChange: () -> Void
  ) throws {
    var reader = try HistoryQueryReader(request, over: connection)
    while try !reader.readPage({ change in
      onChange()
      try lines.write(text: lines.text.line(change)) { try $0.change(change, drain: $1) }
    }) {
      if Signals.stopRequested { try lines.stop("the history was interrupted before its end") }
    }
  }

  private static func printTransactions(
    _ request: HistoryQuery, _ connection: Connection, _ lines: Lines, onPart: () -> Void
  ) throws {
    var reader = try HistoryTransactionReader(request, over: connection)
    // A line is never cut off in the middle.
    var isWithin = false
    func stopIfRequested() throws {
      guard Signals.stopRequested, !isWithin else { return }
      try lines.stop("the history was interrupted before its end")
    }
    while try !reader.readPage({ part in
      if case .begin = part { try stopIfRequested() }
      isWithin = true
      if case .end = part { isWithin = false }
      onPart()
      try lines.isJSON ? writeJSON(part, lines) : writeText(part, lines)
    }) {
      try stopIfRequested()
    }
  }

  private static func writeJSON(_ part: HistoryTransactionReader.Part, _ lines: Lines) throws {
    switch part {
    case .begin(let transaction):
      try lines.writePart { json, _ in json.beginTransaction(transaction) }
    case .change(let change): try lines.writePart { try $0.change(within: change, drain: $1) }
    case .end:
      try lines.writePart { json, _ in json.endTransaction() }
      try lines.endLine()
    }
  }

  private static func writeText(_ part: HistoryTransactionReader.Part, _ lines: Lines) throws {
    switch part {
    case .begin(let transaction): try lines.write(heading(transaction) + "\n")
    case .change(let change):
      let line = lines.text.line(
        change.op, change.changed, change.old, change.new, indent: 2)
      try lines.write("  \(line)\n")
    case .end: break
    }
  }

  private static func heading(_ transaction: ChangeTransaction) -> String {
    let counts = transaction.counts
    let amounts = [
      (counts.inserted, "new"), (counts.updated, "changed"), (counts.deleted, "deleted"),
      (counts.truncated, "emptied"),
    ].filter { $0.0 > 0 }.map { "\(Readable.count(Int($0.0))) \($0.1)" }.joined(separator: ", ")
    let context = transaction.context.map { " (\(PrintableText.line($0)))" } ?? ""
    return
      "\(transaction.token)  \(transaction.at.text)  \(ChangeText.who(transaction))\(context): \(amounts)"
  }
}
