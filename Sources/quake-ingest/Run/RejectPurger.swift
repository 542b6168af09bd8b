import Basics
import CommandLine
import Postgres
import QuakeImport
import QuakeTool

/// Deletes the rejects of old imports, while the worker is idle.
struct RejectPurger {
  private let age: Duration
  private let diagnostics: Diagnostics
  private let pause: Duration
  private var interval: PeriodicTimer
  private var isForbidden = false

  /// - Parameter age: How long rejects are kept. The time between two deletions is a hundredth
  ///   of it, at least a second and at most an hour.
  init(keeping age: Duration, diagnostics: Diagnostics) {
    self.age = age
    self.diagnostics = diagnostics
    pause = min(max(age / 100, .seconds(1)), .seconds(3600))
    interval = PeriodicTimer(pause, first: .zero)
  }

  /// The time until the next deletion.
  var remaining: Duration { isForbidden ? .seconds(3600) : interval.remaining }

  /// Deletes old rejects until it is done or `shouldStop` returns true. The next call continues.
  ///
  /// - Throws: `PostgresError` if the connection is lost. Other failures are only logged.
  mutating func purge(
    over connection: Connection, shouldStop: () -> Bool
  ) throws(PostgresError) {
    guard !isForbidden, interval.fireIfDue() else { return }
    do throws(PostgresError) {
      let count = try RejectStore(connection: connection)
        .purge(olderThan: age, shouldStop: shouldStop)
      guard count > 0 else { return }
      diagnostics.note(
        "deleted \(Readable.count(count, "reject")) older than \(Readable.duration(age))",
        fields: ["rejects": .integer(count)])
    } catch  where !error.isConnectionLoss {
      isForbidden = error.sqlState == SQLState.insufficientPrivilege
      diagnostics.warning(
        "could not delete old rejects: \(error.message)",
        hint: isForbidden
          ? "Grant delete on quake.import_reject to the role of the worker."
          : "The worker tries again later.")
    }
  }
}
