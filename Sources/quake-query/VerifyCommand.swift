import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool

/// `quake-query verify`: checks that nothing is missing in the history.
enum VerifyCommand {
  static let table = Command(
    "verify", purpose: "check that nothing is missing in the history",
    discussion: """
      This command walks through all transactions, from the oldest valid token to the newest one. Each names \
      the one before it, and the number of its changes. A place where a transaction names another one than the \
      history holds, or where changes are missing, is printed, and the exit status is 65. Transactions from \
      before the database recorded the one before do not name it: of these only the changes are checked.
      """,
    options: [.flag("json", help: "one JSON object a line"), .output()],
    examples: [.init("quake-query verify", "check all of the history")])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let lines = Lines(arguments)
    Signals.install()
    let connection = try QueryCommand.connect(arguments, diagnostics)
    var walk = try HistoryVerification(over: connection)
    let bar = ProgressBar(
      "verify", unit: .items("transactions"), total: Int(try walk.count()), diagnostics: diagnostics
    )
    defer { bar.finish() }
    var gaps = 0
    var isAtEnd = false
    while !isAtEnd, !Signals.stopRequested {
      isAtEnd = try walk.readBatch { gap in
        gaps += 1
        try write(gap, lines)
      }
      bar.update(done: Int(walk.transactions))
    }
    bar.finish()
    try writeSummary(walk, gaps: gaps, lines)
    if !isAtEnd, gaps == 0 {
      try lines.stop("the check was interrupted before the end of the history")
    }
    try lines.flush()
    if !isAtEnd {
      diagnostics.warning(
        "stopped before the end of the history", hint: "Run the command again to check all of it.")
    }
    guard gaps > 0 else { return .ok }
    diagnostics.error(
      "history diverged in \(Readable.count(gaps, "place"))",
      hint: """
        Rows of the history were removed, or not copied to this database. Readers that come to such a place end; \
        they can begin again with a snapshot.
        """)
    return .badData
  }

  private static func write(_ gap: HistoryVerification.Gap, _ lines: Lines) throws {
    switch gap {
    case .transactions(let token, let next, let predecessor):
      try lines.writeObject(
        text:
          "after \(token): the next transaction, \(next), names \(predecessor) as the one before it"
      ) {
        $0.member("after", token.description)
        $0.member("token", next.description)
        $0.member("predecessor", predecessor)
      }
    case .changes(let token, let had, let holds):
      try lines.writeObject(
        text:
          "in \(token): the transaction had \(Readable.count(Int(had), "change")), the history holds \(holds)"
      ) {
        $0.member("token", token.description)
        $0.member("changes", had)
        $0.member("held", holds)
      }
    }
  }

  private static func writeSummary(
    _ walk: HistoryVerification, gaps: Int, _ lines: Lines
  ) throws {
    let unlinked =
      walk.unlinked > 0
      ? "; \(Readable.count(Int(walk.unlinked))) of them do not name the one before" : ""
    try lines.writeObject(
      text: """
        checked \(Readable.count(Int(walk.transactions), "transaction")) after \(walk.start) up to \(walk.end)\
        \(unlinked): \(gaps == 0 ? "nothing is missing" : Readable.count(gaps, "gap"))
        """
    ) {
      $0.member("after", walk.start.description)
      $0.member("up_to", walk.end.description)
      $0.member("transactions", walk.transactions)
      $0.member("unlinked", walk.unlinked)
      $0.member("gaps", Int64(gaps))
    }
  }
}
