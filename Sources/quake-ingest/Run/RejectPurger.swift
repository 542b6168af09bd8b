import CommandLine
import Postgres
import QuakeImport
import QuakeTool
import SystemClock

/// Deletes the rejects of old imports, when nothing else is to be done.
struct RejectPurger {
  private let age: Duration
  private let diagnostics: Diagnostics
  private let pause: Duration
  private var interval: PeriodicTimer
  private var isForbidden = false

  /// - Parameter age: For how long rejects are kept. They are looked after at every hundredth part of that,
  ///   but no more often than each second and no less often than each hour.
  init(keeping age: Duration, diagnostics: Diagnostics) {
    self.age = age
    self.diagnostics = diagnostics
    pause = min(max(age / 100, .seconds(1)), .seconds(3600))
    interval = PeriodicTimer(pause, first: .zero)
  }

  /// How long until there is something to do.
  var remaining: Duration { isForbidden ? .seconds(3600) : interval.remaining }

  /// Deletes what is too old; stops when `shouldStop` says so, and goes on the next time.
  ///
  /// - Throws: `PostgresError` if the connection is lost; other failures are only told of.
  mutating func purge(
    over connection: Connection, shouldStop: () -> Bool
  ) throws(PostgresError) {
    guard !isForbidden, interval.fireIfDue() else { return }
    do throws(PostgresError) {
      let count = try RejectStore(connection: connection)
        .purge(olderThan: age, shouldStop: shouldStop)
      guard count > 0 else { return }
      diagnostics.note(
        "deleted \(Readable.count(Int(count))) rejects that were older than \(Readable.duration(age))",
        fields: ["rejects": .integer(count)])
    } catch  where !error.isConnectionLoss {
      isForbidden = error.sqlState == SQLState.insufficientPrivilege
      diagnostics.warning(
        "could not delete old rejects: \(error.message)",
        hint: isForbidden
          ? "Grant delete on quake.import_reject to the role of the worker."
          : "It is tried again later.")
    }
  }
}
