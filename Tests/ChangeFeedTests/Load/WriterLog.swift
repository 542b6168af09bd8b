import Synchronization

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
