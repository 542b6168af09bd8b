import CommandLine
import Postgres
import QuakeHistory
import QuakeTool
import SystemClock

/// Lets go of history that is older than a worker is told to keep, when nothing else is to be done.
struct HistoryPurger {
  private let age: Duration
  private let diagnostics: Diagnostics
  private let pause: Duration
  private var interval: PeriodicTimer

  /// - Parameter age: How much history is kept. It is looked after at every hundredth part of that, but
  ///   no more often than each second and no less often than each hour.
  init(keeping age: Duration, diagnostics: Diagnostics) {
    self.age = age
    self.diagnostics = diagnostics
    pause = min(max(age / 100, .seconds(1)), .seconds(3600))
    interval = PeriodicTimer(pause, first: .zero)
  }

  /// How long until there is something to do.
  var remaining: Duration { interval.remaining }

  /// Removes what is too old; stops when `shouldStop` says so, and goes on the next time.
  ///
  /// - Throws: `PostgresError` if the connection is lost, or the worker was told to stop; other failures are only told of.
  mutating func purge(over connection: Connection, shouldStop: () -> Bool) throws {
    guard interval.fireIfDue() else { return }
    do {
      try purgeNow(over: connection, shouldStop: shouldStop)
    } catch let error as PostgresError where error.isConnectionLoss || error.kind == .interrupted {
      throw error
    } catch {
      diagnostics.warning(
        "could not let go of old history: \(Failure(error)?.message ?? "\(error)")",
        hint: "It is tried again later.")
    }
  }

  private mutating func purgeNow(over connection: Connection, shouldStop: () -> Bool) throws {
    let outcome = try Retention(connection: connection)
      .purge(before: .age(age), shouldStop: shouldStop)
    if !outcome.isFinished { interval = PeriodicTimer(pause, first: .zero) }
    guard outcome.versions + outcome.transactions > 0 else { return }
    diagnostics.note(
      """
      let go of \(Readable.count(Int(outcome.versions))) versions and \
      \(Readable.count(Int(outcome.transactions))) transactions of the history; the oldest valid \
      token is \(outcome.floor)
      """,
      fields: [
        "versions": .integer(outcome.versions), "transactions": .integer(outcome.transactions),
        "oldest_token": .text("\(outcome.floor)"),
      ])
  }
}
