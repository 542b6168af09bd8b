import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool

/// `quake-query diff`: what has changed on the whole between two places in the history.
enum DiffCommand {
  static let table = Command(
    "diff", purpose: "print what was inserted, updated and deleted on the whole, by code",
    discussion: """
      What was changed and changed back is left out. From a later place to an earlier one it is what \
      would undo the changes in between.
      """,
    options: [.flag("json", help: "one JSON object a line")],
    positionals: [
      Positional("FROM", help: "a token, a transaction's number or a time; 0 is the beginning"),
      Positional("TO", .optional, help: "the same; by default now"),
    ],
    examples: [
      .init("quake-query diff 1042.9f3ac2d1", "what has become of it since this token"),
      .init("quake-query diff 2026-11-19 2026-11-20", "what one day has brought"),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let from = try arguments.place(arguments.positional("FROM") ?? "")
    let to = try arguments.positional("TO").map { try arguments.place($0) }
    let lines = Lines(arguments)
    let connection = try QueryCommand.connect(arguments, diagnostics)
    try HistoryDifference.read(from: from, to: to, over: connection) { difference in
      try lines.write(
        text: lines.text.line(
          difference.op, difference.changed, difference.old, difference.new)
      ) { try $0.difference(difference, drain: $1) }
    }
    try lines.flush()
    return .ok
  }
}
