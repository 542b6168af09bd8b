internal import Basics
internal import CommandLine
internal import Postgres
internal import QuakeWorker

/// Watches the statements of one connection. It reports which lock a statement waits for, and cancels a
/// waiting statement when the tool is asked to stop.
///
/// A session that waits cannot query its own wait, so each check opens a connection of its own.
final class LockWaits {
  private var settings: ConnectionSettings
  private let diagnostics: Diagnostics
  /// The wait that the last check found; nil: the statement did not wait for a lock.
  private var last: LockWait?
  /// After how long it first examines a statement.
  private let first: Duration
  /// The last wait that was reported, and when it may be reported again.
  private var reported: (wait: String, again: Deadline)?

  /// A check that takes longer is cancelled, so that it does not delay the statement's answer.
  private static let limit = Duration.seconds(3)

  init(
    _ settings: ConnectionSettings, _ diagnostics: Diagnostics, first: Duration = .seconds(3)
  ) {
    self.first = first
    self.settings = settings
    self.settings.connectTimeout = Self.limit
    self.diagnostics = diagnostics
  }

  func lookAfter(_ connection: Connection) {
    settings.address = connection.address
    connection.watch = StatementWatch(
      first: first, wake: Signals.wakeDescriptor, afterWake: .seconds(1)
    ) { [self] processID throws(PostgresError) in try look(at: processID) }
  }

  /// The wait of the last statement that was checked, in sentences.
  var lastWait: String? { last.map { "It was \($0.message). \($0.detail)" } }

  /// Returns when to look again.
  private func look(at processID: Int32?) throws(PostgresError) -> Duration {
    let isStopping = Signals.stopRequested
    guard let wait = processID.flatMap({ find($0) }) else {
      return isStopping ? .seconds(1) : first * 2
    }
    last = wait
    if isStopping { throw wait.stopped }
    // The attempts of a migration to get one lock are several statements.
    let key = "\(wait.object) \(wait.holder?.processID ?? 0)"
    if reported?.wait != key || reported?.again.hasPassed != false {
      diagnostics.warning(wait.message, detail: wait.detail, hint: wait.hint)
      reported = (key, Deadline(after: .seconds(55)))
    }
    return .seconds(60)
  }

  /// Without a connection for the check, the wait is not reported.
  private func find(_ processID: Int32) -> LockWait? {
    do throws(PostgresError) {
      let connection = try Connection(settings)
      connection.answerTimeout = Self.limit
      return try LockWait.of(processID: processID, over: connection)
    } catch {
      diagnostics.verbose("could not determine which lock a statement waits for: \(error.message)")
      return nil
    }
  }
}
