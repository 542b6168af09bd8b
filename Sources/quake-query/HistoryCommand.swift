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
    options: [
      .value(
        "after", "TOKEN|NUMBER|TIME",
        help: "start after this transaction, or after the last one that was committed by this time"),
      .value("since", "TIME", help: "the same as --after TIME"),
      .value(
        "up-to", "TOKEN|NUMBER|TIME",
        help: "end with this transaction, or with the last one that was committed by this time"),
      .value("until", "TIME", help: "the same as --up-to TIME"),
      .value("transaction", "TOKEN", help: "only this transaction"),
    ] + FilterOptions.events + FilterOptions.changes + [
      .flag("descending", help: "newest change first, also within a transaction"),
      .value(
        "limit", "N", help: "at most N changes, codes or transactions, whichever are printed"),
      .flag("count", help: "print only the number of changes"),
      .flag("codes", help: "print only the codes of the events, each once"),
      .flag("transactions", help: "print transactions, each with its changes"),
      .flag("json", help: "one JSON object a line"),
    ],
    examples: [
      .init(
        "quake-query history --code us7000pn9s --changed magnitude", "the changes of its magnitude"),
      .init("quake-query history --since 2026-11-20 --count", "the number of changes since then"),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let request = try request(arguments)
    try arguments.requireAtMostOne(of: "count", "codes", "transactions")
    let lines = Lines(arguments)
    Signals.install()
    let connection = try QueryCommand.connect(arguments, diagnostics)
    if arguments.flag("count") {
      let count = try request.count(over: connection)
      try lines.write(text: "\(count)") { json, _ in
        json.object {
          $0.key("count")
          $0.integer(Int(count))
        }
      }
    } else if arguments.flag("codes") {
      try request.codes(over: connection) { code in
        try lines.write(text: PrintableText.line(code)) { json, _ in
          json.object {
            $0.key("code")
            $0.string(code)
          }
        }
      }
    } else if arguments.flag("transactions") {
      try printTransactions(request, connection, lines)
    } else {
      try printChanges(request, connection, lines)
    }
    try lines.flush()
    return .ok
  }

  private static func request(_ arguments: ParsedArguments) throws -> HistoryQuery {
    try arguments.requireAtMostOne(of: "after", "since", "transaction")
    try arguments.requireAtMostOne(of: "up-to", "until", "transaction")
    var request = HistoryQuery()
    request.after =
      try arguments.string("after").map(arguments.place)
      ?? arguments.time("since").map { .time($0) }
    request.upTo =
      try arguments.string("up-to").map(arguments.place)
      ?? arguments.time("until").map { .time($0) }
    request.transaction = try arguments.token("transaction")
    request.filter = try FilterOptions.filter(arguments)
    if arguments.flag("descending") { request.order = .descending }
    request.limit = try arguments.integer("limit", in: 1...).map { Int64($0) }
    return request
  }

  private static func printChanges(
    _ request: HistoryQuery, _ connection: Connection, _ lines: Lines
  ) throws {
    var reader = try HistoryQueryReader(request, over: connection)
    while try !reader.readPage({ change in
      try lines.write(text: lines.text.line(change)) { try $0.change(change, drain: $1) }
    }), !Signals.stopRequested {}
  }

  private static func printTransactions(
    _ request: HistoryQuery, _ connection: Connection, _ lines: Lines
  ) throws {
    var reader = try HistoryTransactionReader(request, over: connection)
    var isWithin = false
    while true {
      let isAtEnd = try reader.readPage { part in
        if case .end = part { isWithin = false } else { isWithin = true }
        try lines.isJSON ? writeJSON(part, lines) : writeText(part, lines)
      }
      // A line is never cut off in the middle.
      if isAtEnd || Signals.stopRequested && !isWithin { return }
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
      let line = lines.text.line(change.op, change.changed, change.old, change.new)
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
      "\(transaction.token)  \(transaction.at)  \(ChangeText.who(transaction))\(context): \(amounts)"
  }
}
