import CommandLine
import Postgres
import QuakeModel
import QuakeTool
import QuakeWorker

/// `quake-admin refresh`: requests polls, and waits for their results.
struct RefreshCommand {
  static let table = Command(
    "refresh", purpose: "make the workers poll feeds now, and report the results",
    discussion: """
      The worker of a feed polls it at once, regardless of its schedule, but at least 10 s after the \
      last poll (the worker's --refresh-interval). A refresh fails while the feed is paused, and until the \
      time that the feed's server set with Retry-After. One poll can answer several requests. The exit \
      status is 0 if the feeds were polled, with or without new data; 65 if a feed's data could not be \
      imported; 69 if a feed could not be fetched, or no worker answered.
      """,
    options: [
      .flag("json", help: "one JSON object for each feed"),
      .value(
        "timeout", "DURATION", default: "60s", help: "how long to wait for the workers"),
    ],
    positionals: [
      .init(
        "FEED", .optional, completion: .found(stored: "feeds"),
        help: "short name of the feed; by default all polled feeds")
    ],
    examples: [
      .init("quake-admin refresh", "all feeds"),
      .init("quake-admin refresh all_hour --json", "one feed, as JSON"),
    ])

  private let database: DatabaseAccess
  private let diagnostics: Diagnostics
  private let feed: String?
  private let timeout: Duration
  private let writesJSON: Bool

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    self.diagnostics = diagnostics
    feed = arguments.positional("FEED")
    timeout = try arguments.duration("timeout", in: .milliseconds(1)...) ?? .seconds(60)
    writesJSON = arguments.flag("json")
    database = try DatabaseAccess(arguments, diagnostics)
  }

  /// Requests the polls. The error for an unknown feed names the nearest known one.
  private func ask(over connection: Connection) throws -> RefreshRequest {
    do {
      return try RefreshRequest.ask(for: feed, over: connection)
    } catch let error as StoreError where error.kind == .unknownFeed {
      let names = try connection.rows("select name from quake.feed", as: String.self)
      guard let near = Suggestion.nearest(to: feed ?? "", among: names) else { throw error }
      throw StoreError(
        .unknownFeed, error.message, detail: error.detail, hint: "did you mean '\(near)'?")
    }
  }

  func run() throws -> ExitStatus {
    Signals.install()
    let connection = try database.connectToStore(wake: Signals.wakeDescriptor)
    try RefreshRequest.listen(over: connection)
    let request = try ask(over: connection)
    let statuses = try request.results(
      within: timeout, over: connection, wake: Signals.wakeDescriptor,
      shouldStop: { Signals.stopRequested })
    let output = StandardOutput()
    var status = ExitStatus.ok
    for feed in statuses {
      let report = RefreshReport(request: request.id, feed: feed)
      if writesJSON {
        try output.writeJSON { report.write(to: &$0) }
      } else if let line = report.text {
        try output.writeResult(PrintableText.line(line), diagnostics)
      }
      report.problem(timeout: timeout)?.report(to: diagnostics)
      if status == .ok { status = report.status }
    }
    try output.flush()
    return status
  }
}
