import Basics
import CommandLine
import Postgres
import QuakeTool
import QuakeWorker

/// Asks the workers to poll their feeds, and reports the results while the watch continues.
final class Refresh {
  private let diagnostics: Diagnostics
  private var hasAsked = false
  private var request: RefreshRequest?
  private var asked = Duration.zero
  private var told: Set<String> = []

  /// How long to wait for the results.
  private static let timeout = Duration.seconds(60)

  init(diagnostics: Diagnostics) {
    self.diagnostics = diagnostics
  }

  /// Whether results are still to come.
  var isPending: Bool { request != nil }

  /// Asks once, when the follower cannot miss the changes that result.
  func ask(over connection: Connection) throws {
    guard !hasAsked else { return }
    do {
      request = try RefreshRequest.ask(for: nil, over: connection)
      asked = MonotonicClock.now()
      diagnostics.note("asked the workers to poll their feeds")
    } catch let error where (error as? PostgresError)?.isTransient != true {
      // A failed refresh must not end the watch.
      diagnostics.warning(
        "could not ask for a refresh: \(Failure(error)?.message ?? "\(error)")",
        hint: Failure(error)?.hint)
    }
    hasAsked = true
  }

  /// Reports the feeds that have been polled since the last call.
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
