internal import Postgres
internal import QuakeModel
internal import SystemClock

/// How statements wait that take locks which everybody else needs, such as DDL: for a few seconds only,
/// since others queue behind them meanwhile, and again later, up to a limit.
public struct LockPatience {
  /// How long one attempt waits for a lock.
  public var timeout: Duration
  /// How long all attempts may take together.
  public var total: Duration
  /// A descriptor that becomes readable when somebody wants to stop.
  public var wake: Int32?
  /// What the last statement has waited for, in sentences, if anybody has looked.
  public var lastWait: () -> String?

  /// Patience of the given parts.
  public init(
    timeout: Duration = .seconds(4), total: Duration = .seconds(60), wake: Int32? = nil,
    lastWait: @escaping () -> String? = { nil }
  ) {
    self.timeout = timeout
    self.total = total
    self.wake = wake
    self.lastWait = lastWait
  }

  /// Runs `body` in a transaction, as often as it takes to get its locks.
  ///
  /// - Parameters:
  ///   - doing: What it does, for the error: `could not ...`.
  ///   - alsoAfter: SQLSTATEs after which it is tried again, besides those of locks.
  /// - Throws: `StoreError` of kind `locked` if they cannot be had.
  func transaction<Value>(
    over connection: Connection, _ doing: String, alsoAfter others: Set<String> = [],
    _ body: () throws -> Value
  ) throws -> Value {
    let deadline = Deadline(after: total)
    var backoff = Backoff(first: .milliseconds(500), longest: .seconds(8))
    while true {
      do {
        return try connection.transaction {
          try connection.execute(
            "select set_config('lock_timeout', $1, true)",
            [.text("\(Int64(timeout.inSeconds * 1000))ms")])
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
          detail: lastWait(), hint: "Nothing of it was done. Try again later.")
      }
    }
  }

  /// Whether a lock could not be had in time, or only against somebody who waited for us.
  static func isLocked(_ error: PostgresError) -> Bool {
    error.kind == .server
      && [SQLState.lockNotAvailable, SQLState.deadlockDetected].contains(error.sqlState)
  }

  private func refusal(_ doing: String, _ error: PostgresError) -> StoreError {
    StoreError(
      .locked, "could not \(doing): another session holds a lock that it needs",
      detail: lastWait() ?? "\(error.message).",
      hint: "Nothing of it was done. End that session's transaction, or try again later.")
  }
}
