import Postgres
import Synchronization
import TestSupport

/// What the writers know of their transactions: each has a name of its own, in `quake.context`.
final class WriterLog: Sendable {
  /// How a transaction ended, as its writer knows.
  enum Ending: Sendable, Equatable {
    /// The server said that it was committed.
    case committed
    /// It was rolled back, or failed before its commit.
    case rolledBack
    /// Its commit failed: the server may have drawn a number for it.
    case commitFailed
    /// The connection was lost, or the writer killed, while it was being committed.
    case unknown
  }

  private struct State {
    var endings: [String: Ending] = [:]
    var changes: [String: Int] = [:]
    var committedChanges = 0
    var crashes = 0
    var terminations = 0
  }

  private let state = Mutex(State())

  /// Notes how a transaction ended.
  ///
  /// - Parameter changes: How many changes it held; nil if the writer does not know.
  func note(_ name: String, _ ending: Ending, changes: Int?) {
    state.withLock { state in
      state.endings[name] = ending
      state.changes[name] = changes
      if ending == .committed { state.committedChanges += changes ?? 0 }
    }
  }

  func noteCrash() { state.withLock { $0.crashes += 1 } }
  func noteTermination() { state.withLock { $0.terminations += 1 } }

  /// How many changes are known to be committed.
  var committedChanges: Int { state.withLock { $0.committedChanges } }
  /// How each transaction ended.
  var endings: [String: Ending] { state.withLock { $0.endings } }
  /// How many changes each held.
  var changes: [String: Int] { state.withLock { $0.changes } }
  /// How many transactions ended so.
  func count(_ ending: Ending) -> Int {
    state.withLock { state in state.endings.values.count { $0 == ending } }
  }

  /// How many numbers may be missing at most: one for each commit that failed or was cut off, and what
  /// a crash takes of a sequence, which PostgreSQL logs 32 numbers ahead.
  var explainedGaps: Int {
    state.withLock { state in
      let cutOff = state.endings.values.count { $0 == .commitFailed || $0 == .unknown }
      return cutOff + state.terminations + state.crashes * 33
    }
  }
}

/// Compares the history with what the writers know.
enum HistoryCheck {
  static func run(over connection: Connection, log: WriterLog) throws -> Violations {
    var violations = Violations(feed: "history")
    let known = try connection.execute(
      """
      select t.context, t.inserted + t.updated + t.deleted + t.truncated,
             (select count(*) from quake.quake_version v where v.transaction_id = t.transaction_id)
        from quake.change_transaction t
      """)
    var sizes: [String: Int] = [:]
    for row in 0..<known.rowCount {
      let size = Int(known.integer(row, 1) ?? -1)
      if known.integer(row, 2) != Int64(size) {
        violations.add(.wrongHistory, "\(known.text(row, 0) ?? "?"): counts and versions differ")
      }
      // An import says the file's name here, the same each time.
      guard let name = known.text(row, 0), name.contains("/") else { continue }
      if sizes.updateValue(size, forKey: name) != nil {
        violations.add(.wrongHistory, "\(name) is there twice")
      }
    }
    let changes = log.changes
    for (name, ending) in log.endings where !name.hasPrefix("import/") {
      switch ending {
      case .committed:
        // Nothing that changes nothing is a transaction of the history.
        let expected = changes[name] ?? 0
        if sizes[name, default: 0] != expected {
          violations.add(
            .wrongHistory, "\(name) was committed with \(expected) changes: \(sizes[name] ?? 0)")
        }
      case .rolledBack, .commitFailed:
        if sizes[name] != nil { violations.add(.wrongHistory, "\(name) was rolled back") }
      case .unknown: break
      }
    }
    let gaps =
      Int(
        try connection.ask(
          "select coalesce(max(token), 0) - count(*) from quake.change_transaction") ?? "") ?? -1
    if gaps < 0 || gaps > log.explainedGaps {
      violations.add(
        .unexplainedGap, "\(gaps) numbers are missing, \(log.explainedGaps) are explained")
    }
    if let orphans = try connection.ask(
      """
      select count(*) from quake.quake_version v
       where not exists (select from quake.change_transaction t where t.transaction_id = v.transaction_id)
      """), orphans != "0"
    {
      violations.add(.wrongHistory, "\(orphans) versions belong to no transaction")
    }
    return violations
  }
}
