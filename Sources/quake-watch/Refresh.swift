import CommandLine
import Postgres
import QuakeTool
import QuakeWorker
import SystemClock

/// Has the workers poll their feeds, and tells what came of it while the watch goes on.
final class Refresh {
  private let diagnostics: Diagnostics
  private var hasAsked = false
  private var request: RefreshRequest?
  private var asked = Duration.zero
  private var told: Set<String> = []

  /// How long an answer is waited for.
  private static let timeout = Duration.seconds(60)

  init(diagnostics: Diagnostics) {
    self.diagnostics = diagnostics
  }

  /// Whether an answer is still to come.
  var isPending: Bool { request != nil }

  /// Asks once, when nothing that comes of it can be missed any more.
  func ask(over connection: Connection) throws {
    guard !hasAsked else { return }
    do {
      request = try RefreshRequest.ask(for: nil, over: connection)
      asked = MonotonicClock.now()
      diagnostics.note("asked the workers to poll their feeds")
    } catch let error where (error as? PostgresError)?.isTransient != true {
      // The watch is worth more than the refresh.
      diagnostics.warning(
        "could not ask for a refresh: \(Failure(error)?.message ?? "\(error)")",
        hint: Failure(error)?.hint)
    }
    hasAsked = true
  }

  /// Tells of the feeds that have been polled since it was called last.
  func tell(over connection: Connection) throws {
    guard let request else { return }
    let statuses = try request.status(over: connection)
    let isLate = MonotonicClock.now() - asked > Self.timeout
    for status in statuses where !told.contains(status.feed) {
      let report = RefreshReport(request: request.id, feed: status)
      if status.outcome == nil && !isLate { continue }
      told.insert(status.feed)
      if let text = report.text {
        diagnostics.note(text)
      } else if let problem = report.problem(timeout: Self.timeout) {
        diagnostics.warning(problem.message, detail: problem.detail, hint: problem.hint)
      }
    }
    if told.count == statuses.count { self.request = nil }
  }
}
