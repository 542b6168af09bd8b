import Basics
import CommandLine
import Postgres
import QuakeHistory
import QuakeTool

/// Purges the history that is older than `--keep-history`, while the worker is idle.
struct HistoryPurger {
  private let age: Duration
  private let diagnostics: Diagnostics
  private let pause: Duration
  private var interval: PeriodicTimer

  /// - Parameter age: The age of the history that is kept. The time between two purges is
  ///   a hundredth of it, at least a second and at most an hour.
  init(keeping age: Duration, diagnostics: Diagnostics) {
    self.age = age
    self.diagnostics = diagnostics
    pause = min(max(age / 100, .seconds(1)), .seconds(3600))
    interval = PeriodicTimer(pause, first: .zero)
  }

  /// The time until the next purge.
  var remaining: Duration { interval.remaining }

  /// Purges until it is done or `shouldStop` returns true. The next purge continues.
  ///
  /// - Throws: `PostgresError` if the connection is lost, or the worker was asked to stop. Other failures are
  ///   only logged.
  mutating func purge(over connection: Connection, shouldStop: () -> Bool) throws {
    guard interval.fireIfDue() else { return }
    do {
      try purgeNow(over: connection, shouldStop: shouldStop)
    } catch let error as PostgresError where error.isConnectionLoss || error.kind == .interrupted {
      throw error
    } catch {
      diagnostics.warning(
        "could not purge old history: \(Failure(error)?.message ?? "\(error)")",
        hint: "The worker tries again later.")
    }
  }

  private mutating func purgeNow(over connection: Connection, shouldStop: () -> Bool) throws {
    let outcome = try Retention(connection: connection)
      .purge(before: .age(age), shouldStop: shouldStop)
    if !outcome.isFinished { interval = PeriodicTimer(pause, first: .zero) }
    guard outcome.versions + outcome.transactions > 0 else { return }
    diagnostics.note(
      """
      purged \(Readable.count(outcome.versions, "version")) and \
      \(Readable.count(outcome.transactions, "transaction")) of the history; the oldest valid \
      token is \(outcome.floor)
      """,
      fields: [
        "versions": .integer(outcome.versions), "transactions": .integer(outcome.transactions),
        "oldest_token": .text("\(outcome.floor)"),
      ])
  }
}
