import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool

enum ShowCommand {
  static let table = Command(
    "show", purpose: "print all columns of events",
    options: [.flag("json", help: "one JSON object a line"), .output()],
    positionals: [EventIDs.positional],
    examples: [
      .init("quake-query show us7000pn9s", "the event as it is now"),
      .init("quake-query list --codes -n 3 | quake-query show -", "the latest three events"),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let lines = Lines(arguments)
    let history = EventHistory(connection: try QueryCommand.connect(arguments, diagnostics))
    var status = ExitStatus.ok
    var isFirst = true
    try EventIDs.forEach(arguments, diagnostics) { id in
      guard let event = try history.event(id) else {
        status = QueryCommand.unknown(id, isDeleted: try history.code(of: id) != nil, diagnostics)
        return
      }
      let others = try history.others(of: event)
      if lines.isJSON {
        try lines.write(text: "") {
          try $0.quake(event, columns: EventColumn.allCases, others: others, drain: $1)
        }
      } else {
        if !isFirst { try lines.write("\n") }
        try write(event, others, lines)
      }
      isFirst = false
    }
    try lines.flush()
    return status
  }

  /// The longest text that the schema allows, in bytes: this command never cuts texts.
  private static let limit = 64 * 1024

  private static func write(_ event: EventRecord, _ others: [String], _ lines: Lines) throws {
    let known = EventColumn.allCases.filter { event.has($0) }
    let width = known.reduce(0) { max($0, $1.name.utf8.count) }
    for column in known {
      let gap = String(repeating: " ", count: width - column.name.utf8.count + 2)
      let value = ChangeText.value(column, event, width: nil, atMost: limit)
      try lines.write(column.name + gap + value + "\n")
    }
    if !others.isEmpty {
      let gap = String(repeating: " ", count: max(2, width - "others".utf8.count + 2))
      let codes = others.map { PrintableText.line($0) }.joined(separator: ", ")
      try lines.write("others" + gap + codes + "\n")
    }
  }
}

enum VersionsCommand {
  static let table = Command(
    "versions", purpose: "print the changes of events, one event after the other, oldest first",
    options: [.flag("json", help: "one JSON object a line"), .output()],
    positionals: [EventIDs.positional],
    examples: [
      .init("quake-query versions us7000pn9s", "the changes of this event"),
      .init(
        "quake-query list --codes --min-magnitude 6 | quake-query versions -",
        "the changes of the large ones"),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let lines = Lines(arguments)
    let history = EventHistory(connection: try QueryCommand.connect(arguments, diagnostics))
    var status = ExitStatus.ok
    try EventIDs.forEach(arguments, diagnostics) { id in
      guard let code = try history.code(of: id) else {
        status = QueryCommand.unknown(id, diagnostics)
        return
      }
      try history.versions(of: code) { version in
        try lines.write(text: lines.text.line(version)) { try $0.version(version, drain: $1) }
      }
    }
    try lines.flush()
    return status
  }
}
