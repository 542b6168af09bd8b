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
      that would undo those in between. Events that differ only in columns that no person reads, such as \
      updated, are shown with --verbose and with --json.
      """,
    options: [.flag("json", help: "one JSON object a line"), .output()],
    positionals: [
      Positional(
        "FROM",
        help: """
          a token, a transaction's number, or a time such as yesterday or 2026-11-20; 0 is the start of the \
          history
          """),
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
    let showsAll = lines.isJSON || diagnostics.verbosity > .normal
    var (shown, hidden) = (0, 0)
    try HistoryDifference.read(from: from, to: to, over: connection) { difference in
      guard
        showsAll
          || !ChangeText.isBookkeeping(
            difference.op, difference.changed, difference.old, difference.new)
      else { return hidden += 1 }
      shown += 1
      try lines.write(
        text: lines.text.line(
          difference.op, difference.changed, difference.old, difference.new)
      ) { try $0.difference(difference, drain: $1) }
    }
    try lines.flush()
    if hidden > 0 {
      diagnostics.note(
        """
        left out: \(Readable.count(hidden, "event")) with differences only in columns that no person reads; \
        --verbose shows them
        """)
    } else if shown == 0 {
      EmptyResult.announce("no event differs between these points", diagnostics)
    }
    return .ok
  }
}
