import CommandLine
import Postgres
import QuakeModel
import QuakeSchema
import QuakeTool
import QuakeWorker
import SystemClock

/// `quake-admin refresh`: has the workers poll now, and waits for what comes of it.
struct RefreshCommand {
  static let table = Command(
    "refresh", purpose: "have the workers poll a feed now, and say what came of it",
    discussion: """
      Whoever polls the feed does so at once, whatever its schedule says, but no sooner than 10 s \
      after the last poll, and not while the feed's server asks to be left alone. Several requests are \
      answered by one poll. The exit status is 0 when the feed was polled, whether there was anything \
      new or not; 65 when what it gave could not be taken; 69 when it could not be had, or no worker \
      answered.
      """,
    options: [
      .flag("json", help: "one JSON object for each feed"),
      .value(
        "timeout", "DURATION", default: "60s", help: "how long to wait for the workers"),
    ],
    positionals: [
      .init("FEED", .optional, help: "short name of the feed; by default all that are polled")
    ],
    examples: [
      .init("quake-admin refresh", "all feeds"),
      .init("quake-admin refresh all_hour --json", "one feed, for a program"),
    ],
    environment: DatabaseAccess.environment, exitStatuses: Tool.exitStatuses)

  /// A feed that nobody polls may be about to be taken over: that takes seconds.
  private static let takeover = Duration.seconds(6)
  /// In case a notification was lost.
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

  /// Waits until each feed is done, or there is no point in waiting any more.
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
