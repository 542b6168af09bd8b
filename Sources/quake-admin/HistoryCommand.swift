import CommandLine
import QuakeHistory
import QuakeModel
import QuakeSchema
import QuakeTool

/// `quake-admin history`: purges old history.
enum HistoryCommand {
  static let table = Command(
    "history", purpose: "purge old history",
    subcommands: [
      Command(
        "purge", purpose: "remove the history before a token or an age",
        discussion: """
          The token becomes the retention floor. Below the floor only the newest version of each \
          event is kept, so that every state at or after the floor can still be rebuilt. Tokens \
          before the floor expire. A named watcher (quake-watch --name) holds the floor at its \
          cursor, unless it is further behind than --hold-limit.
          """,
        options: [
          .value(
            "before", "TOKEN|AGE|TIME",
            help:
              "the new oldest valid token: a token, or the newest token of that age (90d) or time"
          ),
          .flag(
            "dry-run",
            help: "report what would be removed and which watchers prevent more; remove nothing"),
          .value(
            "hold-limit", "AGE", default: "7d",
            help: "a watcher that is further behind does not hold the floor"),
        ],
        examples: [
          .init("quake-admin history purge --before 90d --dry-run", "what would be removed"),
          .init("quake-admin history purge --before 90d", "keep the last 90 days"),
        ])
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let bound = try bound(arguments)
    let limit = try arguments.duration("hold-limit", in: .zero...) ?? Retention.standardHoldLimit
    Signals.install()
    let connection = try DatabaseAccess(arguments, diagnostics).connect()
    try Migrator.checkSchema(of: connection)
    let retention = Retention(connection: connection, holdLimit: limit)
    let plan = try retention.plan(before: bound)
    let output = StandardOutput()
    for watcher in plan.pinning {
      let line = """
        watcher "\(watcher.name)" holds the history after \(watcher.cursor.token): it is \
        \(Readable.count(Int(watcher.transactionsBehind))) transactions and \
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
      let outcome = try retention.purge(before: bound, shouldStop: { Signals.stopRequested })
      try output.writeLine(
        "removed \(amount(outcome.versions, outcome.transactions)); "
          + oldest(outcome.floor, was: plan.oldest))
      if !outcome.isFinished {
        diagnostics.warning(
          "stopped before everything was removed", hint: "The next purge continues.")
      }
    }
    try output.flush()
    return .ok
  }

  private static func bound(_ arguments: ParsedArguments) throws -> Retention.Bound {
    guard let text = arguments.string("before") else {
      throw arguments.usageError("--before is needed: a token, an age such as 90d, or a time")
    }
    if let token = ChangeToken(text) { return .token(token) }
    if let time = Timestamp(iso8601: text) { return .time(time) }
    // A bare number would parse as seconds, but is more likely the number of a token.
    if !text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let age = Duration(text: text) {
      return .age(age)
    }
    throw arguments.invalidValue(
      text, for: "before",
      expected:
        "a token such as 1042.9f3ac2d1, an age such as 90d, or a time such as 2026-01-31T00:00:00Z"
    )
  }

  private static func amount(_ versions: Int64, _ transactions: Int64) -> String {
    "\(Readable.count(Int(versions))) versions of events and "
      + "\(Readable.count(Int(transactions))) transactions"
  }

  private static func oldest(_ floor: ChangeToken, was old: ChangeToken) -> String {
    "the oldest valid token is \(floor)" + (floor == old ? ", as before" : "")
  }
}
