import CommandLine
import EmbeddedPostgres
import Postgres
import QuakeFeed
import QuakeModel
import QuakeTool
import QuakeWorker

/// `quake-admin status`: reports the health of feeds, workers, watchers and the database.
struct StatusCommand {
  static let table = Command(
    "status", purpose: "report the health of feeds, workers, watchers and the database",
    discussion: """
      This command only reads: it starts no server and changes nothing. The exit status is for \
      monitoring; problems are also reported on standard error, before the text. --verbose adds the sizes \
      of tables, and --quiet leaves only the problems.

      A hot standby does not know which worker polls a feed, so a missing worker is not reported there.
      """,
    options: [
      .flag("json", help: "one JSON object"),
      .flag(
        "prometheus",
        help: "Prometheus text format, for node_exporter's textfile collector"),
      .output(help: "write to this file, which is replaced atomically"),
      .value(
        "feed", "NAME", repeatable: true, default: "all that were polled at least once",
        completion: .found(stored: "feeds"),
        help: "feed to report"),
      .value(
        "max-lag", "DURATION",
        default:
          "three times its interval, at least 1m, or longer if its server asks for longer pauses",
        help: "longest time since the last successful poll of a feed"),
      .value(
        "max-watcher-lag", "DURATION", default: "1h",
        help: "longest time that a named watcher may be behind"),
      .value(
        "max-queue", "SHARE", default: "0.25",
        help: "largest part of the server's notification queue that may be in use"),
    ],
    examples: [
      .init("quake-admin status", "feeds, workers, watchers and the database"),
      .init("quake-admin status --quiet --max-lag 10m || alert", "for monitoring"),
    ],
    exitStatuses: [
      .init(.ok, "no problems"),
      .init(
        .failed,
        """
        a feed is late, or no worker polls it, unless it is paused or was polled with --once; a watcher is too far behind, \
        or has expired; nothing runs a consumer, or its messages are parked or late; the notification queue is too full; a \
        feed is not polled for hours; the schema was changed
        """),
      .init(.usage), .init(.unavailable, "the database cannot be reached"), .init(.internal),
      .init(.tryLater, "another session holds a lock that the status needs"),
      .init(.notAllowed, "the role may not read the status"),
      .init(.schema, "the schema is missing, older, newer or modified"),
    ])

  private enum Format {
    case text, json, prometheus
  }

  private let access: DatabaseAccess
  private let diagnostics: Diagnostics
  private let format: Format
  private let file: AtomicFile?
  private let feeds: [String]
  private let limits: StatusLimits

  init(_ arguments: ParsedArguments, _ diagnostics: Diagnostics) throws {
    self.diagnostics = diagnostics
    try arguments.requireAtMostOne(of: "json", "prometheus")
    format =
      arguments.flag("json") ? .json : arguments.flag("prometheus") ? .prometheus : .text
    file = arguments.string("output").map { AtomicFile($0) }
    feeds = arguments.strings("feed")
    limits = StatusLimits(
      feedLag: try arguments.duration("max-lag"),
      watcherLag: try arguments.duration("max-watcher-lag") ?? .seconds(3600),
      queueShare: try arguments.double("max-queue", in: 0...1) ?? NotificationQueue.standardLimit)
    access = try DatabaseAccess(arguments, diagnostics)
  }

  func run() throws -> ExitStatus {
    let report: StatusReport
    do {
      let connection = try access.connectAsItIs()
      connection.answerTimeout = .seconds(30)
      report = try StatusReport(
        connection, embedded: access.embedded?.options.home, feeds: feeds, limits: limits,
        program: "\(diagnostics.tool) \(productVersion)")
    } catch let error as PostgresError where error.sqlState == SQLState.lockNotAvailable {
      if format == .prometheus { try write(StatusMetrics.blocked) }
      throw StoreError(
        .locked, "could not read the status: another session holds a lock, or waits for one",
        detail: error.message + ".", hint: "The messages above name the session.")
    } catch {
      // A reader of the file must not take the last status for the present one.
      if format == .prometheus, Failure(error)?.status == .unavailable {
        try write(StatusMetrics.unreachable)
      }
      throw error
    }
    let problems = limits.problems(in: report)
    switch format {
    case .text:
      // Problems come first. If a person reads both outputs, the text has them and the warnings are left out.
      let isRead = file == nil && Terminal.isTerminal(1) && Terminal.isTerminal(2)
      let hasText = diagnostics.verbosity > .quiet || file != nil
      let status = judge(report, problems, warns: !(isRead && hasText))
      if hasText {
        try write(
          StatusText(
            report, problems: problems, showsHints: isRead,
            showsSizes: diagnostics.verbosity > .normal
          ).text)
      }
      return status
    case .json: try write(StatusJSON(report, problems).text)
    case .prometheus: try write(StatusMetrics(report, problems: problems.count).text)
    }
    return judge(report, problems)
  }

  private func judge(
    _ report: StatusReport, _ problems: [StatusLimits.Problem], warns: Bool = true
  ) -> ExitStatus {
    if let fault = report.schemaFault {
      diagnostics.error(fault.message, detail: fault.detail, hints: fault.hint.map { [$0] } ?? [])
      return .schema
    }
    guard report.pending.isEmpty else {
      diagnostics.error(
        "the schema of \(report.address) lacks migrations: "
          + report.pending.joined(separator: ", "),
        hint: "Run \"quake-admin migrate\" on it.")
      return .schema
    }
    for problem in problems where warns {
      diagnostics.warning(problem.message, detail: problem.detail, hint: problem.hint)
    }
    let unknown = feeds.filter { name in report.store?.feeds.contains { $0.name == name } != true }
    for name in unknown {
      let near = Suggestion.nearest(to: name, among: FeedReference.knownNames)
      diagnostics.warning(
        "feed \(name) was never polled",
        hint: near.map { "did you mean '\($0)'?" } ?? "Check its name.")
    }
    return problems.isEmpty && unknown.isEmpty ? .ok : .failed
  }

  private func write(_ text: String) throws {
    guard let file else {
      let output = StandardOutput()
      try output.write(text)
      return try output.flush()
    }
    do throws(AtomicFile.SystemError) {
      try file.write(Array(text.utf8))
    } catch {
      throw FileError("could not write \"\(file.path)\": \(error)")
    }
  }
}
