import CommandLine
import Postgres
import QuakeTool
import QuakeWorker
import SystemClock

/// The part of a worker that stands by for feeds which others poll: it takes over those whose worker is
/// gone, and ends the connection of one that has stopped, which would keep its feeds for ever.
struct Standby {
  private let limit: Duration
  private let diagnostics: Diagnostics
  private var attempt = PeriodicTimer(Self.pause, first: .zero)
  private var inspection: PeriodicTimer
  /// Feeds that it has been said of that others poll them.
  private var said: Set<String> = []
  private var hasSaidHidden = false
  private var hasSaidForbidden = false

  /// How often the locks are tried for.
  private static let pause = Duration.seconds(1)

  /// - Parameter limit: How long another worker may show no life.
  init(takeoverAfter limit: Duration, diagnostics: Diagnostics) {
    self.limit = limit
    self.diagnostics = diagnostics
    inspection = PeriodicTimer(min(limit / 4, .seconds(5)))
  }

  /// How long until there is something to do.
  var remaining: Duration { attempt.remaining }

  /// To be called when the worker has lost what it held: there is something to do at once.
  mutating func reset() {
    attempt = PeriodicTimer(Self.pause, first: .zero)
    said = []
  }

  /// Takes what can be had of `feeds`, none of which this worker holds.
  mutating func take(_ feeds: [String], over connection: Connection) throws -> [String] {
    guard !feeds.isEmpty, attempt.fireIfDue() else { return [] }
    var taken = try takeLocks(feeds, over: connection)
    let others = feeds.filter { !taken.contains($0) }
    if !others.isEmpty, inspection.fireIfDue(), try endStalled(others, over: connection) {
      // Their locks are free as soon as the server has ended them: the next attempt will have them.
      taken += try takeLocks(others, over: connection)
    }
    tell(taken: taken, of: feeds)
    return taken
  }

  /// Takes what can be had of `feeds` now, and tells whose locks did not count.
  func takeLocks(_ feeds: [String], over connection: Connection) throws -> [String] {
    try FeedLock.take(feeds, over: connection).map { taken in
      if let foreign = taken.displaced { tell(foreign, taken.feed) }
      return taken.feed
    }
  }

  private func tell(_ foreign: FeedLock.ForeignSession, _ feed: String) {
    let session =
      foreign.processID.map { "server process \($0) of role \(foreign.role ?? "unknown")" }
      ?? "a prepared transaction"
    diagnostics.warning(
      "the lock of feed \(feed) was held by \(session), which may not poll it; took another lock",
      hint: "Look at what that session does, and end it if it should not be there.")
  }

  private mutating func tell(taken: [String], of feeds: [String]) {
    let overtaken = taken.filter { said.contains($0) }
    let first = taken.filter { !said.contains($0) }
    let others = feeds.filter { !taken.contains($0) && !said.contains($0) }
    if !first.isEmpty { diagnostics.note("polling \(first.joined(separator: ", "))") }
    if !overtaken.isEmpty { diagnostics.note("took over \(overtaken.joined(separator: ", "))") }
    if !others.isEmpty {
      diagnostics.note(
        "standing by for \(others.joined(separator: ", ")), which another worker polls")
    }
    said.formUnion(others)
    said.subtract(taken)
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
            "cannot see whether the worker that polls \(holder.feed) is alive: it is another role's",
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
            \(holder.processID)): it had shown no life for \(Readable.duration(limit))
            """)
        } catch {
          guard error.sqlState == SQLState.insufficientPrivilege else { throw error }
          if !hasSaidForbidden {
            hasSaidForbidden = true
            diagnostics.warning(
              """
              may not end the connection of the worker that polls \(holder.feed) (server process \
              \(holder.processID)), which shows no life
              """,
              detail: error.message, hint: "Run all workers as the same role.")
          }
        }
      }
    }
    return !hasEnded.isEmpty
  }
}
