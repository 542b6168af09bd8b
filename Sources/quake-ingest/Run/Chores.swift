import Basics
import CommandLine
import Postgres
import QuakeHistory
import QuakeImport
import QuakeQuery
import QuakeTool
import QuakeWorker

/// Something that a worker does while it is idle; most remove something old.
protocol Chore {
  /// What it does: "could not ...".
  var task: String { get }
  /// The age from which on it removes something; others give a hundred times their interval.
  var age: Duration { get }
  /// What to do if the role of the worker may not do it.
  var grant: String { get }

  /// Works until it is done or `shouldStop` returns true. The next call continues.
  mutating func run(
    over connection: Connection, _ diagnostics: Diagnostics, shouldStop: () -> Bool
  ) throws -> ChoreProgress
}

/// How far a chore has come.
enum ChoreProgress {
  /// There is nothing left that is old enough.
  case done
  /// It continues when the worker is idle again.
  case unfinished
  /// Another worker does it now, or has just done it.
  case left(toOthersFor: Duration)
}

/// The chores of a worker, each at intervals: a hundredth of its age, at least a second and at most an hour.
struct Chores {
  private struct Entry {
    var chore: any Chore
    let pause: Duration
    var timer: PeriodicTimer
    var isForbidden = false

    init(_ chore: any Chore) {
      self.chore = chore
      pause = min(max(chore.age / 100, .seconds(1)), .seconds(3600))
      timer = PeriodicTimer(pause, first: .zero)
    }
  }

  private var entries: [Entry]
  private let diagnostics: Diagnostics

  init(_ chores: [any Chore], diagnostics: Diagnostics) {
    entries = chores.map { Entry($0) }
    self.diagnostics = diagnostics
  }

  /// The time until one of them is due; nil: none will be.
  var remaining: Duration? { entries.filter { !$0.isForbidden }.map(\.timer.remaining).min() }

  /// Runs those that are due, until `shouldStop` returns true.
  ///
  /// - Throws: `PostgresError` if the connection is lost, or the worker was asked to stop. Other failures are
  ///   only logged.
  mutating func run(over connection: Connection, shouldStop: () -> Bool) throws {
    for index in entries.indices where !entries[index].isForbidden {
      guard entries[index].timer.fireIfDue() else { continue }
      do {
        let progress = try entries[index].chore.run(
          over: connection, diagnostics, shouldStop: shouldStop)
        let pause = entries[index].pause
        switch progress {
        case .done: break
        case .unfinished: entries[index].timer = PeriodicTimer(pause, first: .zero)
        case .left(let time): entries[index].timer = PeriodicTimer(pause, first: min(pause, time))
        }
      } catch let error as PostgresError where error.isConnectionLoss || error.kind == .interrupted
      {
        throw error
      } catch {
        let isForbidden = (error as? PostgresError)?.sqlState == SQLState.insufficientPrivilege
        entries[index].isForbidden = isForbidden
        let chore = entries[index].chore
        diagnostics.warning(
          "could not \(chore.task): \(Failure(error)?.message ?? "\(error)")",
          hint: isForbidden ? chore.grant : "The worker tries again later.")
      }
    }
  }
}

/// Expires the events that are older than `--expire`. Of the workers of a database one does so at a time.
struct EventExpiry: Chore {
  let age: Duration
  let author: String
  let task = "expire old events"
  let grant =
    "Grant the role editor to the role of the worker: grant quake_editor to quake_writer."
  /// A text of this worker alone.
  private let holder = "\(UInt64.random(in: 0...(.max)))"

  /// The most events of one edit, whose codes are in memory.
  private static let mostEvents: Int64 = 50_000
  /// The time between two reports to the other workers.
  private static let reportPause = Duration.seconds(10)
  /// The time until the next attempt while another worker expires events, or has just done so.
  private static let attemptPause = Duration.seconds(5)

  func run(
    over connection: Connection, _ diagnostics: Diagnostics, shouldStop: () -> Bool
  ) throws -> ChoreProgress {
    let schedule = ExpirySchedule(holder: holder, over: connection)
    guard try schedule.begin() else { return .left(toOthersFor: Self.attemptPause) }
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
    try schedule.end(nextIn: isDone ? min(max(age / 100, .seconds(1)), .seconds(3600)) : nil)
    if outcome.changed > 0, let edit = outcome.edit {
      diagnostics.note(
        """
        expired \(Readable.count(outcome.changed, "event")) older than \(Readable.duration(age)) \
        (edit \(edit))
        """,
        fields: ["events": .integer(outcome.changed), "edit": .integer(edit)])
    }
    return isDone ? .done : .unfinished
  }
}

/// Purges the history that is older than `--keep-history`.
struct HistoryPurge: Chore {
  let age: Duration
  let task = "purge old history"
  let grant = "Grant the role purger to the role of the worker: grant quake_purger to quake_writer."

  func run(
    over connection: Connection, _ diagnostics: Diagnostics, shouldStop: () -> Bool
  ) throws -> ChoreProgress {
    let outcome = try Retention(connection: connection)
      .purge(before: .age(age), shouldStop: shouldStop)
    if outcome.versions + outcome.transactions > 0 {
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
    return outcome.isFinished ? .done : .unfinished
  }
}

/// Deletes the rejects of imports that are older than `--keep-rejects`.
struct RejectPurge: Chore {
  let age: Duration
  let task = "delete old rejects"
  let grant = "Grant delete on quake.import_reject to the role of the worker."

  func run(
    over connection: Connection, _ diagnostics: Diagnostics, shouldStop: () -> Bool
  ) throws -> ChoreProgress {
    let count = try RejectStore(connection: connection)
      .purge(olderThan: age, shouldStop: shouldStop)
    if count > 0 {
      diagnostics.note(
        "deleted \(Readable.count(count, "reject")) older than \(Readable.duration(age))",
        fields: ["rejects": .integer(count)])
    }
    return .done
  }
}

/// Deletes the imports or edits that are older than `--keep-imports` or `--keep-edits`.
struct RecordPurge: Chore {
  let records: Housekeeping.Records
  let age: Duration
  let grant =
    "Run \"quake-admin roles create\", which grants the functions that delete old records."
  var task: String { "delete old \(records.rawValue)" }

  func run(
    over connection: Connection, _ diagnostics: Diagnostics, shouldStop: () -> Bool
  ) throws -> ChoreProgress {
    let count = try Housekeeping.purge(
      records, olderThan: age, over: connection, shouldStop: shouldStop)
    if count > 0 {
      let word: StaticString =
        switch records {
        case .imports: "import"
        case .edits: "edit"
        }
      diagnostics.note(
        "deleted \(Readable.count(count, word)) older than \(Readable.duration(age))",
        fields: [records.rawValue: .integer(count)])
    }
    return .done
  }
}

/// Notes the sizes of the tables, from which `quake-admin status` tells how they grow.
struct SizeNote: Chore {
  let age = Duration.seconds(86_400)
  let task = "note the sizes of tables"
  let grant = "Run \"quake-admin roles create\", which grants quake.note_table_sizes()."

  func run(
    over connection: Connection, _ diagnostics: Diagnostics, shouldStop: () -> Bool
  ) throws -> ChoreProgress {
    try Housekeeping.noteSizes(over: connection)
    return .done
  }
}

/// Notes the places that events have left, without which questions about the past of a long history take long.
struct PastNote: Chore {
  let age = Duration.seconds(1000)
  let task = "note the places that events have left"
  let grant = "Run \"quake-admin roles create\", which grants quake.note_past(integer)."

  func run(
    over connection: Connection, _ diagnostics: Diagnostics, shouldStop: () -> Bool
  ) throws -> ChoreProgress {
    let isDone = try Housekeeping.notePast(over: connection, shouldStop: shouldStop)
    return isDone ? .done : .unfinished
  }
}
