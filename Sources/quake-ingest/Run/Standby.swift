import Basics
import CommandLine
import Postgres
import QuakeTool
import QuakeWorker

/// The standby part of a worker. It takes over feeds whose worker has ended. It also ends the connection of a
/// worker that has stopped working, which would otherwise hold its feeds for ever.
struct Standby {
  private let limit: Duration
  private let diagnostics: Diagnostics
  private var attempt = PeriodicTimer(Self.pause, first: .zero)
  private var inspection: PeriodicTimer
  /// The feeds of which a message has reported that another worker polls them.
  private var reported: Set<String> = []
  private var hasSaidHidden = false
  private var hasSaidForbidden = false

  /// The time between two attempts to acquire the locks.
  private static let pause = Duration.seconds(1)

  /// - Parameter limit: The longest time without a sign of life of another worker.
  init(takeoverAfter limit: Duration, diagnostics: Diagnostics) {
    self.limit = limit
    self.diagnostics = diagnostics
    inspection = PeriodicTimer(min(limit / 4, .seconds(5)))
  }

  var remaining: Duration { attempt.remaining }

  /// Makes the next attempt due at once. The worker calls it after it has lost its locks.
  mutating func reset() {
    attempt = PeriodicTimer(Self.pause, first: .zero)
    reported = []
  }

  /// Acquires the free locks of `feeds`, none of which this worker holds, and ends stalled workers.
  mutating func acquire(_ feeds: [String], over connection: Connection) throws -> [String] {
    guard !feeds.isEmpty, attempt.fireIfDue() else { return [] }
    var acquired = try acquireLocks(feeds, over: connection)
    let others = feeds.filter { !acquired.contains($0) }
    if !others.isEmpty, inspection.fireIfDue(), try endStalled(others, over: connection) {
      // The locks are free as soon as the server has ended the connections; otherwise the next attempt gets
      // them.
      acquired += try acquireLocks(others, over: connection)
    }
    log(acquired: acquired, of: feeds)
    return acquired
  }

  /// Acquires the free locks of `feeds`, and reports sessions that held a lock without being a worker.
  func acquireLocks(_ feeds: [String], over connection: Connection) throws -> [String] {
    try FeedLock.acquire(feeds, over: connection).map { acquired in
      if let foreign = acquired.displaced { log(foreign, acquired.feed) }
      return acquired.feed
    }
  }

  private func log(_ foreign: FeedLock.ForeignSession, _ feed: String) {
    let session =
      foreign.processID.map { "server process \($0) of role \(foreign.role ?? "unknown")" }
      ?? "a prepared transaction"
    diagnostics.warning(
      "the lock of feed \(feed) was held by \(session), which may not poll it; took another lock",
      hint: "Find out what that session does, and end it if it is not wanted.")
  }

  private mutating func log(acquired: [String], of feeds: [String]) {
    let overtaken = acquired.filter { reported.contains($0) }
    let first = acquired.filter { !reported.contains($0) }
    let others = feeds.filter { !acquired.contains($0) && !reported.contains($0) }
    if !first.isEmpty { diagnostics.note("polling \(first.joined(separator: ", "))") }
    if !overtaken.isEmpty { diagnostics.note("took over \(overtaken.joined(separator: ", "))") }
    if !others.isEmpty {
      diagnostics.note(
        "standing by for \(others.joined(separator: ", ")), which another worker polls")
    }
    reported.formUnion(others)
    reported.subtract(acquired)
  }

  /// - Returns: Whether a connection was ended.
  private mutating func endStalled(_ feeds: [String], over connection: Connection) throws -> Bool {
    var hasEnded: Set<Int> = []
    for holder in try FeedLock.holders(of: feeds, idleLimit: limit, over: connection) {
      switch holder.condition {
      case .alive: break
      case .hidden:
        if !hasSaidHidden {
          hasSaidHidden = true
          diagnostics.warning(
            "cannot see whether the worker that polls \(holder.feed) is alive: it runs as another role",
            hint: "Run all workers as the same role, or grant pg_monitor to this one.")
        }
      case .stalled where hasEnded.contains(holder.processID): break
      case .stalled:
        do throws(PostgresError) {
          try FeedLock.end(holder, over: connection)
          hasEnded.insert(holder.processID)
          diagnostics.warning(
            """
            ended the connection of the worker that polled \(holder.feed) (server process \
            \(holder.processID)): it had shown no sign of life for \(Readable.duration(limit))
            """)
        } catch {
          guard error.sqlState == SQLState.insufficientPrivilege else { throw error }
          if !hasSaidForbidden {
            hasSaidForbidden = true
            diagnostics.warning(
              """
              may not end the connection of the worker that polls \(holder.feed) (server process \
              \(holder.processID)), which shows no sign of life
              """,
              detail: error.message, hint: "Run all workers as the same role.")
          }
        }
      }
    }
    return !hasEnded.isEmpty
  }
}
