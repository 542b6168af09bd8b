import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool

/// `quake-query versions`: prints the changes of one event.
enum VersionsCommand {
  static let table = Command(
    "versions", purpose: "print the changes from each version of an event to the next",
    options: [.flag("json", help: "one JSON object a line")],
    positionals: [Positional("ID", help: "any id that the event has or had")],
    examples: [.init("quake-query versions us7000pn9s", "the changes of this event")])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let id = arguments.positional("ID") ?? ""
    let lines = Lines(arguments)
    let history = EventHistory(connection: try QueryCommand.connect(arguments, diagnostics))
    guard let code = try history.code(of: id) else {
      return QueryCommand.unknown(id, diagnostics)
    }
    try history.versions(of: code) { version in
      try lines.write(text: line(version, lines.text)) { try $0.version(version, drain: $1) }
    }
    try lines.flush()
    return .ok
  }

  private static func line(_ version: EventVersion, _ text: ChangeText) -> String {
    let transaction = version.transaction
    let who = text.dim(ChangeText.who(transaction))
    let what = text.line(version.op, version.changed, version.old, version.new)
    return "\(transaction.token)  \(transaction.at)  \(what)  \(who)"
  }
}
