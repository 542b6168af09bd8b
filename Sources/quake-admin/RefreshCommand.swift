import CommandLine
import Postgres
import QuakeModel
import QuakeSchema
import QuakeTool
import QuakeWorker
import SystemClock

/// `quake-admin refresh`: requests polls, and waits for their results.
struct RefreshCommand {
  static let table = Command(
    "refresh", purpose: "make the workers poll feeds now, and report the results",
    discussion: """
      The worker of a feed polls it at once, regardless of its schedule, but at least 10 s after the \
      last poll, and not before the time that the feed's server set with Retry-After. One poll can \
      answer several requests. The exit status is 0 if the feeds were polled, with or without new \
      data; 65 if a feed's data could not be imported; 69 if a feed could not be fetched, or no \
      worker answered.
      """,
    options: [
      .flag("json", help: "one JSON object for each feed"),
      .value(
        "timeout", "DURATION", default: "60s", help: "how long to wait for the workers"),
    ],
    positionals: [
      .init("FEED", .optional, help: "short name of the feed; by default all polled feeds")
    ],
    examples: [
      .init("quake-admin refresh", "all feeds"),
      .init("quake-admin refresh all_hour --json", "one feed, as JSON"),
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  /// How long to wait for a feed that no worker polls: a takeover takes seconds.
  private static let takeover = Duration.seconds(6)
  /// How often the result is queried, in case a notification was lost.
  private static let safetyPoll = Duration.seconds(1)

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

  func run() throws -> ExitStatus {
    Signals.install()
    let connection = try database.connect(wake: Signals.wakeDescriptor)
    try Migrator.checkSchema(of: connection)
    try RefreshRequest.listen(over: connection)
    let request = try RefreshRequest.ask(for: feed, over: connection)
    let statuses = try wait(for: request, over: connection)
    let output = StandardOutput()
    var status = ExitStatus.ok
    for feed in statuses {
      let report = RefreshReport(request: request.id, feed: feed)
      if writesJSON {
        var json = JSONWriter()
        report.write(to: &json)
        json.newline()
        try output.write(json.bytes)
      } else if let line = report.text {
        try output.writeLine(PrintableText.line(line))
      }
      if let problem = report.problem(timeout: timeout) {
        diagnostics.error(
          problem.message, detail: problem.detail, hints: problem.hint.map { [$0] } ?? [])
      }
      if status == .ok { status = report.status }
    }
    try output.flush()
    return status
  }

  /// Waits until each feed has a result, the time is up, or no worker polls the remaining feeds.
  private func wait(
    for request: RefreshRequest, over connection: Connection
  ) throws -> [RefreshRequest.Status] {
    let begun = MonotonicClock.now()
    while true {
      let statuses = try request.status(over: connection)
      let elapsed = MonotonicClock.now() - begun
      let isHopeless = { (feed: RefreshRequest.Status) in
        !feed.isTaken && !feed.isHeld && elapsed >= Self.takeover
      }
      let left = timeout - elapsed
      guard statuses.contains(where: { $0.outcome == nil && !isHopeless($0) }), left > .zero,
        !Signals.stopRequested
      else { return statuses }
      try RefreshRequest.wait(
        for: min(left, Self.safetyPoll), over: connection, wake: Signals.wakeDescriptor)
    }
  }
}
