import Basics
import CommandLine
import Postgres
import QuakeQuery
import QuakeTool

/// Expires the events that are older than `--expire`, while the worker is idle. Of the workers of a database
/// one does so at a time.
struct EventExpirer {
  private let age: Duration
  private let author: String
  private let diagnostics: Diagnostics
  private let pause: Duration
  /// A text of this worker alone.
  private let holder = "\(UInt64.random(in: 0...(.max)))"
  private var interval: PeriodicTimer
  private var isForbidden = false

  /// The most events of one edit, whose codes are in memory.
  private static let mostEvents: Int64 = 50_000
  /// The time between two reports to the other workers.
  private static let reportPause = Duration.seconds(10)
  /// The time until the next attempt while another worker expires events, or has just done so.
  private static let attemptPause = Duration.seconds(5)

  /// - Parameter age: The age from which on events expire. The time between two searches for old
  ///   events is a hundredth of it, at least a second and at most an hour.
  init(olderThan age: Duration, author: String, diagnostics: Diagnostics) {
    self.age = age
    self.author = author
    self.diagnostics = diagnostics
    pause = min(max(age / 100, .seconds(1)), .seconds(3600))
    interval = PeriodicTimer(pause, first: .zero)
  }

  /// The time until it looks for old events next.
  var remaining: Duration { isForbidden ? .seconds(3600) : interval.remaining }

  /// Expires old events until it is done or `shouldStop` returns true. The next call continues.
  ///
  /// - Throws: `PostgresError` if the connection is lost, or the worker was asked to stop. Other failures are
  ///   only logged.
  mutating func expire(over connection: Connection, shouldStop: () -> Bool) throws {
    guard !isForbidden, interval.fireIfDue() else { return }
    do {
      try expireNow(over: connection, shouldStop: shouldStop)
    } catch let error as PostgresError where error.isConnectionLoss || error.kind == .interrupted {
      throw error
    } catch {
      isForbidden = (error as? PostgresError)?.sqlState == SQLState.insufficientPrivilege
      diagnostics.warning(
        "could not expire old events: \(Failure(error)?.message ?? "\(error)")",
        hint: isForbidden
          ? "Grant the role editor to the role of the worker: grant quake_editor to quake_writer."
          : "The worker tries again later.")
    }
  }

  private mutating func expireNow(over connection: Connection, shouldStop: () -> Bool) throws {
    let schedule = ExpirySchedule(holder: holder, over: connection)
    guard try schedule.begin() else {
      interval = PeriodicTimer(pause, first: min(pause, Self.attemptPause))
      return
    }
    var selection = EventSelection()
    selection.limit = Self.mostEvents
    let edit = EventEdit(
      .expire(olderThan: age, forever: false), of: selection,
      by: EditAuthor(program: "\(diagnostics.tool) \(productVersion)", author: author),
      title: "run --expire \(age.text)")
    var report = PeriodicTimer(Self.reportPause)
    var isReplaced = false
    let outcome: EditOutcome
    do {
      outcome = try BatchEdit(edit, over: connection).run(
        shouldStop: {
          if report.fireIfDue() { isReplaced = (try? schedule.report()) == false }
          return isReplaced || shouldStop()
        })
    } catch {
      // Another worker need not wait until the lease ends.
      try? schedule.end(nextIn: nil)
      throw error
    }
    let isDone =
      outcome.isFinished && outcome.selected + outcome.changedBefore < Self.mostEvents
    try schedule.end(nextIn: isDone ? pause : nil)
    if !isDone { interval = PeriodicTimer(pause, first: .zero) }
    guard outcome.changed > 0, let edit = outcome.edit else { return }
    diagnostics.note(
      """
      expired \(Readable.count(outcome.changed, "event")) older than \(Readable.duration(age)) \
      (edit \(edit))
      """,
      fields: ["events": .integer(outcome.changed), "edit": .integer(edit)])
  }
}
