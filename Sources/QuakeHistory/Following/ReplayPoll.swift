internal import Basics
internal import Postgres

/// Waits at a hot standby, which has no LISTEN, until it has replayed more of its primary's log.
///
/// A question about the position costs a fraction of a read of the history, and the answer changes with each commit.
/// The questions come more often while changes come.
struct ReplayPoll {
  private var position: String?
  private var interval = Self.shortestInterval
  /// Whether the server has been promoted, and can notify now.
  private(set) var isPromoted = false

  private static let shortestInterval = Duration.milliseconds(20)
  /// On average half of it passes between a commit and the question that shows it.
  private static let longestInterval = Duration.milliseconds(100)

  /// Waits until the position is another than at the last call, or the server has been promoted; at most until
  /// `deadline`. The history is read after the question, so that it has what the standby replays in between.
  mutating func wait(
    over connection: Connection, until deadline: Deadline, wake: Int32
  ) throws(PostgresError) -> Connection.WaitOutcome {
    while true {
      if try ask(over: connection) { return .ready }
      guard !deadline.hasPassed else { return .timedOut }
      let next = min(deadline, Deadline(after: interval))
      if connection.wait(until: next, wake: wake) == .woken { return .woken }
      // A server that ends says so, and the next question fails.
      interval = min(interval * 5 / 4, Self.longestInterval)
    }
  }

  /// Whether there is something to read.
  private mutating func ask(over connection: Connection) throws(PostgresError) -> Bool {
    let (isStandby, now) = try connection.row(
      "select pg_is_in_recovery(), pg_last_wal_replay_lsn()::text", prepared: true,
      as: (Bool, String?).self)
    isPromoted = !isStandby
    defer { position = now }
    return isPromoted || now != position
  }

  /// Takes note of what the read after a wait found: the position moves with what other programs write, too.
  mutating func hasRead(foundChanges: Bool) {
    if foundChanges { interval = Self.shortestInterval }
  }
}
