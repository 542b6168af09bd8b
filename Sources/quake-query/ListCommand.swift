import CommandLine
import Postgres
import QuakeModel
import QuakeQuery
import QuakeTool

/// `quake-query list`: prints the events, now or as of an earlier point.
enum ListCommand {
  static let table = Command(
    "list", purpose: "print the events, newest first, now or as of an earlier point",
    discussion: """
      Superseded events (superseded_by) and withdrawn events (withdrawn_at) are left out unless an \
      option includes them or --code names them. "--code -" reads codes from standard input, one a line.

      If events of several sources are associated, an earthquake is shown once, followed by "also" and \
      the codes of its other events; JSON has them in "others".

      On a terminal, the events are a table, shown with $PAGER. If there are more events than --limit, \
      this command prints a cursor, after which the next page begins: as text on standard error; as JSON, \
      only with --page, in a last line {"next":"CURSOR"}, which is {"next":null} at the end of the list.
      """,
    options: EventQueryOptions.points + FilterOptions.events + EventQueryOptions.past + [
      EventQueryOptions.sort,
      .flag("count", help: "print only the number of events"),
      .flag("codes", help: "print only the codes of the events"),
      EventQueryOptions.columns,
      .limit(help: "at most N events"),
      .optionalValue(
        "page", "CURSOR", help: "the page after this cursor; without a cursor, the first page"),
      .flag("json", help: "one JSON object a line"),
      .output(),
    ],
    examples: [
      .init("quake-query list --within 300:35.7,139.7 --limit 20", "the latest around Tokyo"),
      .init(
        "quake-query list --as-of yesterday",
        "the events as they were known at the start of yesterday"),
      .init(
        "quake-query list --last 7d --sort magnitude:desc --columns magnitude,place",
        "the largest of the week"),
    ],
    environment: DatabaseAccess.environment + [
      .init("PAGER", "the program that shows tables on a terminal; by default less -FRX")
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    try arguments.requireAtMostOne(of: "count", "limit")
    try arguments.requireAtMostOne(of: "count", "page")
    try arguments.requireAtMostOne(of: "count", "codes", "columns")
    var query = try EventQueryOptions.query(arguments)
    let columns = try EventQueryOptions.columns(arguments)
    query.limit = try arguments.integer("limit", in: 1...).map { Int64($0) }
    try EventQueryOptions.setOrder(of: &query, arguments, page: arguments.string("page"))
    if arguments.flag("codes") { query.columns = [.code] }
    if let columns { query.columns = columns }
    let connection = try QueryCommand.connect(arguments, diagnostics)
    try PastNote.tell(of: query, over: connection, diagnostics)
    var count = 0
    let next = try EventSelectionOptions.withCodes(
      arguments, diagnostics, query, over: connection
    ) { query -> EventCursor? in
      if arguments.flag("count") {
        try printCount(query, over: connection, arguments)
        return nil
      }
      let next = try print(query, columns, over: connection, arguments) { count += 1 }
      if count == 0 { EventSelectionOptions.announceNone(arguments, diagnostics) }
      return next
    }
    // For people; a script gets the cursor with --json.
    if let next, !arguments.flag("json") { diagnostics.note("the next page: --page \(next)") }
    return .ok
  }

  private static func printCount(
    _ query: EventQuery, over connection: Connection, _ arguments: ParsedArguments
  ) throws {
    let lines = Lines(arguments)
    let count = try query.count(over: connection)
    try lines.writeObject(text: "\(count)") { $0.member("count", count) }
    try lines.flush()
  }

  private static func print(
    _ query: EventQuery, _ columns: [EventColumn]?, over connection: Connection,
    _ arguments: ParsedArguments, onEvent: () -> Void
  ) throws -> EventCursor? {
    if arguments.flag("json") {
      return try printJSON(query, columns, over: connection, arguments, onEvent: onEvent)
    }
    return try Pager.run { output -> EventCursor? in
      let text = ChangeText(colour: Colour(for: 1))
      if arguments.flag("codes") {
        return try query.read(over: connection) { event in
          onEvent()
          try output.writeLine(PrintableText.line(event.code ?? ""))
        }
      }
      guard columns != nil || Terminal.isTerminal(1) else {
        return try query.readWithOthers(over: connection) { event, others in
          onEvent()
          try output.writeLine(text.describe(event) + text.dim(also(others, "  ")))
        }
      }
      var table = EventTable(columns, output: output)
      let next = try query.readWithOthers(over: connection) { event, others in
        onEvent()
        try table.add(event, note: also(others, ""))
      }
      try table.finish()
      return next
    }
  }

  /// Names the events of other sources that are the same earthquake.
  private static func also(_ others: [String], _ gap: String) -> String {
    guard !others.isEmpty else { return "" }
    return gap + "also " + others.map { PrintableText.line($0) }.joined(separator: ", ")
  }

  private static func printJSON(
    _ query: EventQuery, _ columns: [EventColumn]?, over connection: Connection,
    _ arguments: ParsedArguments, onEvent: () -> Void
  ) throws -> EventCursor? {
    let lines = Lines(arguments)
    let columns = arguments.flag("codes") ? [.code] : columns
    func write(_ event: EventRecord, _ others: [String]) throws {
      onEvent()
      try lines.write(text: "") { json, drain in
        if columns != nil || !others.isEmpty {
          try json.quake(
            event, columns: columns ?? EventColumn.allCases, others: others, drain: drain)
        } else {
          try json.quake(event, drain: drain)
        }
      }
    }
    let next =
      columns == nil
      ? try query.readWithOthers(over: connection, write)
      : try query.read(over: connection) { try write($0, []) }
    if arguments.isGiven("page") {
      try lines.writeObject(text: "") { $0.member("next", next.map { "\($0)" }) }
    }
    try lines.flush()
    return next
  }
}

struct EventTable {
  private let columns: [EventColumn]
  /// Whether the user named no columns, and reads the table.
  private let isUsual: Bool
  private var table: FittedTable

  /// The columns of a table for which the user names none.
  private static let usual: [EventColumn] = [.time, .magnitude, .depth, .place, .code]

  /// A table of these columns on `output`, as wide as the terminal if standard output is one.
  init(_ columns: [EventColumn]?, output: StandardOutput) {
    isUsual = columns == nil
    let shown = columns ?? Self.usual
    self.columns = shown
    let headers = shown.map { column -> TextTable.Column in
      switch column.kind {
      case .float8, .int4, .int2: .number(column.name)
      case .text, .timestamp, .bool: .text(column.name)
      }
    }
    let whole = shown.indices.filter { shown[$0] == .code || shown[$0].kind == .timestamp }
    table = FittedTable(
      headers + [.text("")], keeping: Set(whole),
      width: Terminal.isTerminal(1) ? Terminal.columns(1) ?? 80 : nil,
      colour: Colour(for: 1), output: output)
  }

  /// - Parameter note: Follows the last column.
  mutating func add(_ event: EventRecord, note: String = "") throws(OutputError) {
    try table.add(columns.map { cell($0, of: event) } + [TextTable.Cell(note)])
  }

  mutating func finish() throws(OutputError) { try table.finish() }

  private func cell(_ column: EventColumn, of event: EventRecord) -> TextTable.Cell {
    guard event.has(column) else { return "" }
    if column == .magnitude, let magnitude = event.magnitude {
      return TextTable.Cell(text(magnitude), ChangeText.style(ofMagnitude: magnitude))
    }
    if let number = event.double(column) {
      return TextTable.Cell(text(number))
    }
    if isUsual, let moment = event.timestamp(column) {
      return TextTable.Cell(moment.text)
    }
    return TextTable.Cell(
      ChangeText.value(column, event, width: nil, atMost: PrintableText.lineLimit))
  }

  /// A number, in the usual table to a hundredth: the 15 digits of some depths would take the space of the place.
  private func text(_ number: Double) -> String {
    let rounded = (number * 100).rounded() / 100
    return Readable.shortest(isUsual && rounded.isFinite ? rounded + 0 : number)
  }
}
