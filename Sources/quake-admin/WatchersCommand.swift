import CommandLine
import Postgres
import QuakeHistory
import QuakeModel
import QuakeSchema
import QuakeTool

/// `quake-admin watchers`: lists or removes durable cursors.
enum WatchersCommand {
  static let table = Command(
    "watchers", purpose: "list the named watchers and their lag",
    options: [
      .value(
        "remove", "NAME", help: "remove this watcher's cursor, so that it no longer prevents purges"
      ),
      .flag("json", help: "one JSON object a line"),
    ],
    examples: [
      .init("quake-admin watchers", "the lag of each watcher"),
      .init("quake-admin watchers --remove old-consumer", "remove a watcher that no longer runs"),
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let connection = try DatabaseAccess(arguments, diagnostics).connect()
    connection.answerTimeout = .seconds(60)
    try Migrator.checkSchema(of: connection)
    if let name = arguments.string("remove") {
      guard try DurableCursor.remove(name, over: connection) else {
        diagnostics.error(
          "there is no watcher \"\(name)\"", hint: "\"quake-admin watchers\" lists them.")
        return .failed
      }
      diagnostics.note("removed watcher \"\(name)\"")
      return .ok
    }
    let watchers = try DurableCursor.list(over: connection)
    let output = StandardOutput()
    if arguments.flag("json") {
      var json = JSONWriter()
      for watcher in watchers { write(watcher, to: &json) }
      try output.write(json.bytes)
    } else {
      try output.write(table(of: watchers))
    }
    try output.flush()
    return .ok
  }

  private static func table(of watchers: [DurableCursor.Status]) -> String {
    var table = TextTable([
      .text("name"), .text("token"), .number("tokens behind"), .number("seconds behind"),
      .text("last moved"), .text("last seen"), .text("state"),
    ])
    for watcher in watchers {
      table.add([
        watcher.name, "\(watcher.cursor)", "\(watcher.transactionsBehind)",
        Readable.decimal(watcher.secondsBehind, places: 1), "\(watcher.movedAt)",
        "\(watcher.seenAt)", watcher.isExpired ? "expired" : "",
      ])
    }
    return table.render()
  }

  private static func write(_ watcher: DurableCursor.Status, to json: inout JSONWriter) {
    json.object { json in
      json.key("name")
      json.string(watcher.name)
      json.key("token")
      json.string("\(watcher.cursor.token)")
      json.key("changes")
      json.integer(Int(watcher.cursor.changes))
      json.key("tokens_behind")
      json.integer(Int(watcher.transactionsBehind))
      json.key("seconds_behind")
      json.double(watcher.secondsBehind)
      json.key("moved_at")
      json.timestamp(watcher.movedAt)
      json.key("seen_at")
      json.timestamp(watcher.seenAt)
      json.key("expired")
      json.bool(watcher.isExpired)
    }
    json.newline()
  }
}
