import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool

/// `quake-query diff`: prints the net changes between two points of the history.
enum DiffCommand {
  static let table = Command(
    "diff", purpose: "print the net changes between two points of the history, by code",
    discussion: """
      Changes that were undone later are left out. If FROM is later than TO, the output is the changes \
      that would undo those in between.
      """,
    options: [.flag("json", help: "one JSON object a line")],
    positionals: [
      Positional(
        "FROM", help: "a token, a transaction's number or a time; 0 is the start of the history"),
      Positional("TO", .optional, help: "the same; by default now"),
    ],
    examples: [
      .init("quake-query diff 1042.9f3ac2d1", "net changes since this token"),
      .init("quake-query diff 2026-11-19 2026-11-20", "net changes of one day"),
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
