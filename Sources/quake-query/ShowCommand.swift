import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool

/// `quake-query show`: prints one event.
enum ShowCommand {
  static let table = Command(
    "show", purpose: "print all columns of an event",
    options: [.flag("json", help: "as one JSON object")],
    positionals: [Positional("ID", help: "any id that the event has or had")],
    examples: [.init("quake-query show us7000pn9s", "the event as it is now")])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let id = arguments.positional("ID") ?? ""
    let lines = Lines(arguments)
    let history = EventHistory(connection: try QueryCommand.connect(arguments, diagnostics))
    guard let event = try history.event(id) else { return QueryCommand.unknown(id, diagnostics) }
    if lines.isJSON {
      try lines.write(text: "") { try $0.quake(event, drain: $1) }
    } else {
      try write(event, lines)
    }
    try lines.flush()
    return .ok
  }

  /// The longest text that the schema allows, in bytes: this command never cuts texts.
  private static let limit = 64 * 1024

  private static func write(_ event: QuakeRecord, _ lines: Lines) throws {
    let known = QuakeColumn.allCases.filter { event.has($0) }
    let width = known.reduce(0) { max($0, $1.name.utf8.count) }
    for column in known {
      let gap = String(repeating: " ", count: width - column.name.utf8.count + 2)
      let value = ChangeText.value(column, event, width: nil, atMost: limit)
      try lines.write(column.name + gap + value + "\n")
    }
  }
}
