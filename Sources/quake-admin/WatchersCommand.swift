import CommandLine
import Postgres
import QuakeConsumers
import QuakeHistory
import QuakeModel
import QuakeTool

enum WatchersCommand {
  static let table = Command(
    "watchers", purpose: "list or remove named watchers",
    subcommands: [
      Command(
        "list", purpose: "list the named watchers and their lag; the default",
        options: [.flag("json", help: "one JSON object a line")],
        examples: [.init("quake-admin watchers list --json", "the lag of each watcher, as JSON")]),
      Command(
        "remove", purpose: "remove the cursors of watchers, so that they no longer prevent purges",
        discussion: """
          A watcher of that name begins anew at its next start. Of a consumer also its conversations and \
          the messages that it owes are removed. On a terminal the command asks first; elsewhere it needs \
          --yes.
          """,
        options: [Consent.option],
        positionals: [
          .init(
            "NAME", .oneOrMore, completion: .found(stored: "watchers"),
            help: "name of a watcher")
        ],
        examples: [
          .init(
            "quake-admin watchers remove old-consumer --yes", "remove a watcher that no longer runs"
          )
        ]),
    ],
    standard: "list",
    examples: [
      .init("quake-admin watchers", "the lag of each watcher"),
      .init("quake-admin watchers remove old-consumer", "remove a watcher that no longer runs"),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    if arguments.subcommand.last == "remove" { return try remove(arguments, diagnostics) }
    let connection = try connect(arguments, diagnostics)
    let watchers = try DurableCursor.list(over: connection)
    let consumers = Set(try ConsumerStatus.names(over: connection))
    try StandardOutput().write(
      watchers, isJSON: arguments.flag("json"),
      members: { watcher, json in
        members(of: watcher, to: &json)
        json.member("consumer", consumers.contains(watcher.name))
      }, text: { table(of: $0, consumers) })
    if watchers.isEmpty {
      EmptyResult.announce("there is no named watcher; quake-watch --name makes one", diagnostics)
    }
    return .ok
  }

  private static func connect(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> Connection {
    try DatabaseAccess(arguments, diagnostics).connectToStore(answerTimeout: .seconds(60))
  }

  private static func remove(
    _ arguments: ParsedArguments, _ diagnostics: Diagnostics
  ) throws -> ExitStatus {
    let consent = try Consent(arguments, diagnostics)
    let connection = try connect(arguments, diagnostics)
    if consent.asks {
      let known = Set(try DurableCursor.list(over: connection).map(\.name))
      let consumers = try ConsumerStatus.names(over: connection)
      for name in arguments.positionals where !known.contains(name) {
        return unknown(name, Array(known), diagnostics)
      }
      let names = arguments.positionals.map { "\"\(PrintableText.line($0))\"" }
      let isOwing = arguments.positionals.contains { consumers.contains($0) }
      guard
        consent.isGiven(
          "Remove the cursor of watcher \(names.joined(separator: ", "))"
            + (isOwing ? ", and all that consumers of that name owe?" : "?"))
      else { return .failed }
    }
    var status = ExitStatus.ok
    for name in arguments.positionals {
      if try DurableCursor.remove(name, over: connection) {
        diagnostics.note("removed watcher \"\(name)\"")
      } else {
        let known = try DurableCursor.list(over: connection).map(\.name)
        status = unknown(name, known, diagnostics)
      }
    }
    return status
  }

  private static func unknown(
    _ name: String, _ known: [String], _ diagnostics: Diagnostics
  ) -> ExitStatus {
    let near = Suggestion.nearest(to: name, among: known)
    diagnostics.error(
      "there is no watcher \"\(name)\"",
      hints: (near.map { ["did you mean '\($0)'?"] } ?? [])
        + ["\"quake-admin watchers\" lists them."])
    return .failed
  }

  private static func table(
    of watchers: [DurableCursor.Status], _ consumers: Set<String>
  ) -> String {
    var table = TextTable([
      .text("name"), .text("token"), .number("tokens behind"), .number("seconds behind"),
      .text("last moved"), .text("last seen"), .text("state"),
    ])
    for watcher in watchers {
      table.add([
        watcher.name, "\(watcher.cursor)", "\(watcher.transactionsBehind)",
        Readable.decimal(watcher.secondsBehind, places: 1), watcher.movedAt.text,
        watcher.seenAt.text,
        [watcher.isExpired ? "expired" : "", consumers.contains(watcher.name) ? "consumer" : ""]
          .filter { !$0.isEmpty }.joined(separator: ", "),
      ])
    }
    return table.render()
  }

  private static func members(of watcher: DurableCursor.Status, to json: inout JSONWriter) {
    json.member("name", watcher.name)
    json.member("token", "\(watcher.cursor.token)")
    json.member("changes", watcher.cursor.changes)
    json.member("tokens_behind", watcher.transactionsBehind)
    json.member("seconds_behind", watcher.secondsBehind)
    json.member("moved_at", watcher.movedAt)
    json.member("seen_at", watcher.seenAt)
    json.member("expired", watcher.isExpired)
  }
}
