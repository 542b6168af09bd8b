import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool

enum HistoryCommand {
  static let table = Command(
    "history", purpose: "purge old history",
    subcommands: [
      Command(
        "purge", purpose: "remove the history before a token or an age",
        discussion: """
          The token becomes the retention floor. Below the floor only the newest version of each \
          event is kept, so that every state at or after the floor can still be rebuilt. Tokens \
          below the floor expire. A named watcher (quake-watch --name) holds the floor at its \
          cursor, unless it is further behind than --hold-limit.

          What was removed cannot be restored. On a terminal the command asks first; elsewhere it needs \
          --yes.
          """,
        options: [
          .value(
            "before", "TOKEN|AGE|TIME",
            help:
              "the new retention floor: a token, or the newest token of that age (90d) or time"
          ),
          .value("up-to", "TOKEN|AGE|TIME", help: "the same as --before"),
          .flag(
            "dry-run",
            help: "report what would be removed and which watchers hold the floor; remove nothing"
          ).onCommandLineOnly(),
          Consent.option,
          .value(
            "hold-limit", "AGE", default: "7d",
            help: "a watcher that is further behind does not hold the floor"),
        ],
        examples: [
          .init("quake-admin history purge --before 90d --dry-run", "what would be removed"),
          .init("quake-admin history purge --before 90d --yes", "keep the last 90 days"),
        ])
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let bound = try bound(arguments)
    let consent = try Consent(arguments, diagnostics)
    let limit = try arguments.age("hold-limit", in: .zero...) ?? Retention.standardHoldLimit
    Signals.install()
    let connection = try DatabaseAccess(arguments, diagnostics).connectToStore()
    let retention = Retention(connection: connection, holdLimit: limit)
    let plan = try retention.plan(before: bound)
    let output = StandardOutput()
    for watcher in plan.pinning {
      let line = """
        watcher "\(watcher.name)" holds the history after \(watcher.cursor.token): it is \
        \(Readable.count(watcher.transactionsBehind, "transaction")) and \
        \(Readable.duration(Duration(lag: watcher.secondsBehind))) behind
        """
      if arguments.flag("dry-run") {
        try output.writeLine(PrintableText.line(line))
      } else {
        diagnostics.warning(
          line, hint: "The purge stops there; see \"quake-admin watchers\".")
      }
    }
    if arguments.flag("dry-run") {
      try output.writeLine(
        "would remove \(amount(plan.versions, plan.transactions)); "
          + oldest(plan.floor, was: plan.oldest))
    } else {
      let removes = plan.versions > 0 || plan.transactions > 0 || plan.floor != plan.oldest
      if removes {
        let question =
          "Remove \(amount(plan.versions, plan.transactions)) for ever? Tokens before \(plan.floor) expire."
        guard consent.isGiven(question) else { return .failed }
      }
      let bar = ProgressBar(
        "purge", unit: .items("versions"), total: Int(plan.versions), diagnostics: diagnostics)
      let outcome = try retention.purge(
        before: bound, shouldStop: { Signals.stopRequested },
        progress: { bar.update(done: Int($0.versions)) })
      bar.finish()
      try output.writeResult(
        "removed \(amount(outcome.versions, outcome.transactions)); "
          + oldest(outcome.floor, was: plan.oldest), diagnostics)
      if !outcome.isFinished {
        diagnostics.warning(
          "stopped before everything was removed", hint: "The next purge continues.")
      }
    }
    try output.flush()
    return .ok
  }

  private static func bound(_ arguments: ParsedArguments) throws -> Retention.Bound {
    try arguments.requireAtMostOne(of: "before", "up-to")
    let name = arguments.isGiven("up-to") ? "up-to" : "before"
    guard let text = arguments.string(name) else {
      throw arguments.usageError("--before is needed: a token, an age such as 90d, or a time")
    }
    if let token = ChangeToken(text) { return .token(token) }
    // A bare number would parse as seconds, but is more likely the number of a token.
    if text.last?.isLetter == true, let age = Duration(text: text) { return .age(age) }
    if let time = TimeText.read(text) { return .time(time) }
    throw arguments.invalidValue(
      text, for: name,
      expected:
        "a token such as 1042.9f3ac2d1, an age such as 90d, or a time such as 2026-01-31T00:00:00Z",
      suggestion: TimeText.suggestion(for: text)
    )
  }

  private static func amount(_ versions: Int64, _ transactions: Int64) -> String {
    "\(Readable.count(versions, "version of events")) and \(Readable.count(transactions, "transaction"))"
  }

  private static func oldest(_ floor: ChangeToken, was old: ChangeToken) -> String {
    "the oldest valid token is \(floor)" + (floor == old ? ", as before" : "")
  }
}
