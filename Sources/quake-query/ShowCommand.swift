import CommandLine
import QuakeModel
import QuakeStore
import QuakeTool

/// `quake-query show`: one event.
enum ShowCommand {
  static let table = Command(
    "show", purpose: "print all that is known of an event",
    options: [.flag("json", help: "as one JSON object")],
    positionals: [Positional("ID", help: "any id that the event has or had")],
    examples: [.init("quake-query show us7000pn9s", "the event as it is now")])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let id = arguments.positional("ID") ?? ""
    let lines = Lines(arguments)
    let history = EventHistory(connection: try QueryCommand.connect(arguments, diagnostics))
    guard let event = try history.event(id) else { return QueryCommand.unknown(id, diagnostics) }
    if lines.isJSON {
      try lines.write(text: "") { $0.quake(event) }
    } else {
      try lines.write(fields(of: event))
    }
    try lines.flush()
    return .ok
  }

  private static func fields(of event: QuakeRecord) -> String {
    let known = QuakeColumn.allCases.filter { event.has($0) }
    let width = known.reduce(0) { max($0, $1.name.utf8.count) }
    return known.map { column in
      let gap = String(repeating: " ", count: width - column.name.utf8.count + 2)
      return column.name + gap + ChangeText.value(column, event, width: nil) + "\n"
    }.joined()
  }
}
