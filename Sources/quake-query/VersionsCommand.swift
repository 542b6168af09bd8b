import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool

/// `quake-query versions`: prints the changes of events.
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
