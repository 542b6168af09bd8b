import Basics
import CLinux
import CommandLine
import Postgres
import QuakeClient
import QuakeModel
import QuakeTool

/// Follows the history of a server until the watch is complete: asks again after each lost connection, and
/// reports what happens. `ServerFollower` reads and waits, `Delivery` hands over.
final class ServerWatcher: Watcher {
  private let diagnostics: Diagnostics
  private let follower: ServerFollower
  private let delivery: Delivery
  private let follows: Bool

  private var backoff = Backoff()
  /// When changes could come over this connection first, and after which cursor.
  private var begun: (cursor: HistoryCursor?, at: Duration) = (nil, .zero)
  /// Whether changes came, or could have come, over this connection.
  private var isFollowing = false
  /// Whether a connection was lost, and the next one has not been reported yet.
  private var isReconnecting = false
  private var announcement = WatchAnnouncement()

  /// - Parameter follows: Whether to continue at the end of the history.
  init(diagnostics: Diagnostics, follower: ServerFollower, delivery: Delivery, follows: Bool) {
    self.diagnostics = diagnostics
    self.follower = follower
    self.delivery = delivery
    self.follows = follows
  }

  // MARK: - Connections

  func run() throws {
    while true {
      do {
        return try watch()
      } catch let error as ServerError where error.kind == .interrupted {
        Signals.drainWake()
        if Signals.stopRequested { return }
      } catch let error as ServerError where error.isTransient || error.kind == .wrongAddress {
        // Fail at once on a wrong address. A server that was there once is worth waiting for, and in the
        // meantime a proxy may say that there is nothing.
        guard delivery.hasBegun else { throw error }
        report(error)
        // Not for a connection that brought nothing: a server may accept one and end it at once.
        let isUseful =
          follower.cursor != begun.cursor || MonotonicClock.now() - begun.at > .seconds(5)
        if isFollowing, isUseful { backoff.reset() }
        (isFollowing, isReconnecting) = (false, true)
        follower.disconnect()
        _ = Signals.wait(timeout: max(backoff.next(), error.retryAfter ?? .zero))
        if Signals.stopRequested { return }
      }
    }
  }

  private func report(_ error: ServerError) {
    let problem = [error.message, error.detail].compactMap { $0 }.joined(separator: ": ")
    if isFollowing || !isReconnecting {
      diagnostics.warning(problem, hint: "Trying again until the connection is restored.")
    } else {
      diagnostics.verbose("still no connection: \(problem)")
    }
  }

  // MARK: - Watching

  /// Watches over one connection until the watch is complete.
  private func watch() throws {
    while true {
      do {
        try delivery.begin()
        return try follow()
      } catch let error as StoreError where delivery.canReset(after: error) {
        diagnostics.warning(
          error.message, detail: error.detail, hint: "Beginning again with a snapshot.")
        try delivery.reset(after: error)
      } catch let error as StoreError where error.kind == .token(.expired) {
        throw delivery.explained(error)
      }
    }
  }

  /// Hands over the history to its end, and then each new change, until the watch is complete.
  private func follow() throws {
    isFollowing = true
    begun = (follower.cursor, MonotonicClock.now())
    if isReconnecting, follows {
      diagnostics.warning(
        "connected again; continuing after token \(follower.cursor?.description ?? "0")")
    }
    isReconnecting = false
    // As when following a database, an idle watch releases the memory that reading took.
    var isIdle = false
    while try delivery.readToEnd(shouldStop: { Signals.stopRequested }) {
      if !follows, follower.hasReachedEnd { return }
      if follower.hasReachedEnd { announcement.tell(follower.cursor, diagnostics) }
      try delivery.showLife()
      if isIdle { quake_release_idle_memory() }
      let pause = min(delivery.timeToSignOfLife, isIdle ? .seconds(60) : .seconds(1))
      switch try follower.wait(until: Deadline(after: pause)) {
      case .ready: isIdle = false
      case .timedOut: isIdle = true
      case .woken:
        Signals.drainWake()
        if Signals.stopRequested { return }
      }
    }
  }

  // MARK: - Slow consumers

  func pauseWhileOutputStalls() { follower.pause() }
}
