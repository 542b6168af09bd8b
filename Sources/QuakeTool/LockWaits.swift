internal import CommandLine
internal import Postgres
internal import QuakeWorker

/// Looks after one connection's statements: says what they wait for when another session holds a lock
/// that they need, and cancels one that does when the tool is told to stop.
///
/// A session that waits cannot look itself: each look takes a connection of its own.
final class LockWaits {
  private var settings: ConnectionSettings
  private let diagnostics: Diagnostics
  /// What was found at the last look; nil: no lock was waited for.
  private var last: LockWait?
  /// How often it was said of the statement under way.
  private var timesSaid = 0

  /// How long a statement takes before it is looked at.
  private static let first = Duration.seconds(3)
  /// How often a statement is looked at that waits for no lock; how often after a request to stop; and
  /// how long at most is nothing said of one that waits.
  private static let pause = Duration.seconds(6)
  private static let pauseWhileStopping = Duration.seconds(1)
  private static let longestPause = Duration.seconds(300)
  /// A look that takes longer is given up: the statement's answer is not to wait for it.
  private static let limit = Duration.seconds(3)

  init(_ settings: ConnectionSettings, _ diagnostics: Diagnostics) {
    self.settings = settings
    self.settings.connectTimeout = Self.limit
    self.diagnostics = diagnostics
  }

  /// Begins to look after a connection.
  func lookAfter(_ connection: Connection) {
    connection.watch = StatementWatch(
      first: Self.first, wake: Signals.wakeDescriptor, afterWake: Self.pauseWhileStopping
    ) { [self] in look(at: $0) }
  }

  /// What the last statement that was looked at has waited for, in sentences.
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

  /// If there is no connection to be had, nothing can be said.
  private func find(_ processID: Int32) -> LockWait? {
    do throws(PostgresError) {
      let connection = try Connection(settings)
      connection.answerTimeout = Self.limit
      return try LockWait.of(processID: processID, over: connection)
    } catch {
      diagnostics.verbose("could not find out what a statement waits for: \(error.message)")
      return nil
    }
  }
}
