import Basics
import CommandLine
import Postgres
import QuakeHistory
import QuakeImport
import QuakeQuery
import QuakeTool
import QuakeWorker

/// Something that a worker does while it is idle; most remove something old.
struct Chore {
  /// What it does: "could not ...".
  let task: String
  /// The age from which on it removes something; others give a hundred times their interval.
  let age: Duration
  /// What to do if the role of the worker may not do it.
  let grant: String
  /// Works until it is done or `shouldStop` returns true. The next call continues.
  let run:
    (
      _ connection: Connection, _ diagnostics: Diagnostics, _ shouldStop: () -> Bool
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
    let chore: Chore
    let pause: Duration
    var timer: PeriodicTimer
    var isForbidden = false

    init(_ chore: Chore) {
      self.chore = chore
      pause = min(max(chore.age / 100, .seconds(1)), .seconds(3600))
      timer = PeriodicTimer(pause, first: .zero)
    }
  }

  private var entries: [Entry]
  private let diagnostics: Diagnostics

  init(_ chores: [Chore], diagnostics: Diagnostics) {
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
        let progress = try entries[index].chore.run(connection, diagnostics, shouldStop)
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

extension Chore {
  /// The most events of one edit that expires events. Their codes are in memory.
  private static let mostExpired: Int64 = 50_000

  /// Expires the events that are older than `--expire`. Of the workers of a database one does so at a time: it reports
  /// every ten seconds, and the others try every five.
  static func eventExpiry(_ age: Duration, author: String) -> Chore {
    // A text of this worker alone.
    let holder = "\(UInt64.random(in: 0...(.max)))"
    return Chore(
      task: "expire old events", age: age,
      grant: "Grant the role editor to the role of the worker: grant quake_editor to quake_writer."
    ) { connection, diagnostics, shouldStop in
      let schedule = ExpirySchedule(holder: holder, over: connection)
      guard try schedule.begin() else { return .left(toOthersFor: .seconds(5)) }
      var selection = EventSelection()
      selection.limit = mostExpired
      let edit = EventEdit(
        .expire(olderThan: age, forever: false), of: selection,
        by: EditAuthor(program: "\(diagnostics.tool) \(productVersion)", author: author),
        title: "run --expire \(age.text)")
      var report = PeriodicTimer(.seconds(10))
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
      let isDone = outcome.isFinished && outcome.selected + outcome.changedBefore < mostExpired
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
  static func historyPurge(_ age: Duration) -> Chore {
    Chore(
      task: "purge old history", age: age,
      grant: "Grant the role purger to the role of the worker: grant quake_purger to quake_writer."
    ) { connection, diagnostics, shouldStop in
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
  static func rejectPurge(_ age: Duration) -> Chore {
    deletion(
      of: "reject", age, grant: "Grant delete on quake.import_reject to the role of the worker."
    ) { try RejectStore(connection: $0).purge(olderThan: age, shouldStop: $1) }
  }

  /// Deletes the imports that are older than `--keep-imports`, or the edits that are older than `--keep-edits`.
  static func recordPurge(_ records: Housekeeping.Records, _ age: Duration) -> Chore {
    deletion(
      of: records == .imports ? "import" : "edit", age,
      grant: "Run \"quake-admin roles create\", which grants the functions that delete old records."
    ) { try Housekeeping.purge(records, olderThan: age, over: $0, shouldStop: $1) }
  }

  private static func deletion(
    of word: StaticString, _ age: Duration, grant: String,
    _ purge: @escaping (Connection, () -> Bool) throws -> Int64
  ) -> Chore {
    Chore(task: "delete old \(word)s", age: age, grant: grant) {
      connection, diagnostics, shouldStop in
      let count = try purge(connection, shouldStop)
      if count > 0 {
        diagnostics.note(
          "deleted \(Readable.count(count, word)) older than \(Readable.duration(age))",
          fields: ["\(word)s": .integer(count)])
      }
      return .done
    }
  }

  /// Notes the sizes of the tables, from which `quake-admin status` tells how they grow.
  static var sizeNote: Chore {
    Chore(
      task: "note the sizes of tables", age: .seconds(86_400),
      grant: "Run \"quake-admin roles create\", which grants quake.note_table_sizes()."
    ) { connection, _, _ in
      try Housekeeping.noteSizes(over: connection)
      return .done
    }
  }

  /// Notes the places that events have left, without which questions about the past of a long history take long.
  static var pastNote: Chore {
    Chore(
      task: "note the places that events have left", age: .seconds(1000),
      grant: "Run \"quake-admin roles create\", which grants quake.note_past(integer)."
    ) { connection, _, shouldStop in
      try Housekeeping.notePast(over: connection, shouldStop: shouldStop) ? .done : .unfinished
    }
  }
}
