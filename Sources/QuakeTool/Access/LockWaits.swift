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
  /// The number of reports of the present statement's wait.
  private var timesSaid = 0

  /// How long a statement runs before it is checked.
  private static let first = Duration.seconds(3)
  /// The time between two checks of a statement that waits for no lock or after a request to stop, and the
  /// least time between two reports of a wait.
  private static let pause = Duration.seconds(6)
  private static let pauseWhileStopping = Duration.seconds(1)
  private static let longestPause = Duration.seconds(300)
  /// A check that takes longer is cancelled, so that it does not delay the statement's answer.
  private static let limit = Duration.seconds(3)

  init(_ settings: ConnectionSettings, _ diagnostics: Diagnostics) {
    self.settings = settings
    self.settings.connectTimeout = Self.limit
    self.diagnostics = diagnostics
  }

  /// Starts to watch a connection.
  func lookAfter(_ connection: Connection) {
    connection.watch = StatementWatch(
      first: Self.first, wake: Signals.wakeDescriptor, afterWake: Self.pauseWhileStopping
    ) { [self] in look(at: $0) }
  }

  /// The wait of the last statement that was checked, in sentences.
  var lastWait: String? { last.map { LockWaitText($0).sentence } }

  private func look(at statement: StatementWatch.Statement) -> StatementWatch.Verdict {
    if statement.looks == 0 { timesSaid = 0 }
    let isStopping = Signals.stopRequested
    last = statement.processID.flatMap { find($0) }
    guard let wait = last else { return .goOn(isStopping ? Self.pauseWhileStopping : Self.pause) }
    let text = LockWaitText(wait)
    if isStopping { return .cancel(text.stopped) }
    diagnostics.warning(text.message, detail: text.detail, hint: text.hint)
    timesSaid += 1
    return .goOn(min(Self.first * (1 << min(timesSaid, 10)), Self.longestPause))
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
