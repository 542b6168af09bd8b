internal import Basics
internal import Postgres
internal import QuakeModel

/// Limits the waits of statements that need strong locks, such as DDL. Other sessions queue behind such a
/// wait, so each attempt waits only a few seconds, and attempts are repeated up to a total time.
package struct LockPatience {
  /// The longest wait of one attempt.
  package var timeout: Duration
  /// The longest time of all attempts together.
  package var total: Duration
  /// A descriptor that becomes readable when the program is asked to stop.
  package var wake: Int32?
  /// Describes the wait of the last statement, in sentences; nil if it was not examined.
  package var lastWait: () -> String?

  package init(
    timeout: Duration = .seconds(4), total: Duration = .seconds(60), wake: Int32? = nil,
    lastWait: @escaping () -> String? = { nil }
  ) {
    self.timeout = timeout
    self.total = total
    self.wake = wake
    self.lastWait = lastWait
  }

  /// Limits for migrations, which run beside programs at work: a reader that queues behind an attempt waits for less
  /// than a second.
  package static func migrating(
    wake: Int32? = nil, lastWait: @escaping () -> String? = { nil }
  ) -> LockPatience {
    LockPatience(timeout: .milliseconds(500), wake: wake, lastWait: lastWait)
  }

  /// Runs `body` in a transaction, and repeats it until it gets its locks or the total time is over.
  ///
  /// - Parameters:
  ///   - doing: A phrase for the error: `could not ...`.
  ///   - alsoAfter: SQLSTATEs after which it is repeated, in addition to those of locks.
  /// - Throws: `StoreError` of kind `locked` if the locks are not available in time.
  func transaction<Value>(
    over connection: Connection, _ doing: String, alsoAfter others: Set<String> = [],
    _ body: () throws -> Value
  ) throws -> Value {
    let deadline = Deadline(after: total)
    var backoff = Backoff(first: .milliseconds(500), longest: .seconds(2))
    while true {
      do {
        return try connection.transaction {
          let limit = "\(Int64(timeout.inSeconds * 1000))ms"
          try connection.execute("select set_config('lock_timeout', \(limit), true)")
          return try body()
        }
      } catch let error as PostgresError where others.contains(error.sqlState) {
        if deadline.hasPassed { throw error }
      } catch let error as PostgresError where Self.isLocked(error) {
        guard !deadline.hasPassed else { throw refusal(doing, error) }
      }
      if Connection.pause(for: backoff.next(), wake: wake) == .woken {
        throw PostgresError(
          kind: .interrupted, sqlState: SQLState.queryCanceled,
          message: "could not \(doing): stopped while another session held a lock",
          detail: lastWait(), hint: "What was done before it stays. Try again later.")
      }
    }
  }

  /// Whether a statement failed by a lock timeout or a deadlock.
  static func isLocked(_ error: PostgresError) -> Bool {
    error.kind == .server
      && [SQLState.lockNotAvailable, SQLState.deadlockDetected].contains(error.sqlState)
  }

  private func refusal(_ doing: String, _ error: PostgresError) -> StoreError {
    StoreError(
      .locked, "could not \(doing): another session holds a lock that it needs",
      detail: lastWait() ?? "\(error.message).",
      hint: "What was done before it stays. End that session's transaction, or try again later.")
  }
}
