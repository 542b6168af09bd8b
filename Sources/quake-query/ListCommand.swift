import CommandLine
import QuakeHistory
import QuakeModel
import QuakeTool

/// `quake-query list`: prints the events, now or as of an earlier point.
enum ListCommand {
  static let table = Command(
    "list", purpose: "print the events, newest first, now or as of an earlier point",
    discussion: """
      Superseded events (superseded_by) and withdrawn events (withdrawn_at) are left out unless an \
      option includes them or --code names them.
      """,
    options: [
      .value(
        "as-of", "TOKEN|NUMBER|TIME",
        help: "the events just after this transaction, or at this time")
    ] + FilterOptions.events + [
      .flag("superseded", help: "also superseded events"),
      .flag("withdrawn", help: "also withdrawn events"),
      .flag("all", help: "the same as --superseded --withdrawn"),
      .flag("count", help: "print only the number of events"),
      .value("limit", "N", help: "at most N events"),
      .flag("json", help: "one JSON object a line"),
    ],
    examples: [
      .init("quake-query list --within 300:35.7,139.7 --limit 20", "the latest around Tokyo"),
      .init("quake-query list --as-of 2026-11-20T12:00:00Z --json", "all events as of this time"),
    ])

  static func run(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws -> ExitStatus {
    let place = try arguments.string("as-of").map { try arguments.place($0) }
    let filter = try FilterOptions.filter(arguments, withChanges: false)
    let limit = try arguments.integer("limit", in: 1...).map { Int64($0) }
    var past: EventList.Past = []
    if arguments.flag("superseded") || arguments.flag("all") { past.insert(.superseded) }
    if arguments.flag("withdrawn") || arguments.flag("all") { past.insert(.withdrawn) }
    try arguments.requireAtMostOne(of: "count", "limit")
    let lines = Lines(arguments)
    let connection = try QueryCommand.connect(arguments, diagnostics)
    if arguments.flag("count") {
      let count = try EventList.count(asOf: place, filter: filter, with: past, over: connection)
      try lines.write(text: "\(count)") { json, _ in
        json.object {
          $0.key("count")
          $0.integer(Int(count))
        }
      }
    } else {
      try EventList.read(
        asOf: place, filter: filter, with: past, limit: limit, over: connection
      ) { event in
        try lines.write(text: lines.text.describe(event)) { try $0.quake(event, drain: $1) }
      }
    }
    try lines.flush()
    return .ok
  }
}
