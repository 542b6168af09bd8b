import CommandLine
import QuakeHistory
import QuakeTool
import QuakeWorker
import SystemClock

/// How bad things may be before `quake-admin status` says so.
struct StatusLimits {
  /// How long a feed may be without success; nil: it depends on how often it is polled.
  let feedLag: Duration?
  /// How far a watcher may be behind.
  let watcherLag: Duration
  /// How long a session may wait for a lock.
  let lockWait: Duration
  /// How full the notification queue may be, 0 to 1.
  let queueShare: Double

  /// Something that somebody should look after.
  struct Problem: Equatable {
    let message: String
    var detail: String?
    var hint: String?
  }

  /// The limit for a feed: three polls, but never less than a minute; ten minutes where it is not
  /// known how often it is polled.
  func limit(for feed: StoreStatus.Feed) -> Duration {
    if let feedLag { return feedLag }
    guard let interval = feed.interval, interval < 1e9 else { return .seconds(600) }
    return max(.seconds(60), Duration(lag: interval * 3))
  }

  /// What is wrong, the schema apart.
  func problems(in report: StatusReport) -> [Problem] {
    guard let store = report.store else { return [] }
    var problems: [Problem] = []
    for feed in store.feeds {
      // A standby does not have the locks of its primary.
      if !feed.isHeld, !report.isStandby {
        problems.append(
          Problem(
            message: "no worker polls feed \(feed.name)",
            hint: """
              Start "quake-ingest run". A feed that is no longer wanted is forgotten with "delete \
              from quake.feed".
              """))
      }
      if let late = lateness(of: feed, in: store) { problems.append(late) }
    }
    for watcher in store.watchers {
      if watcher.isExpired {
        problems.append(
          Problem(
            message: "watcher \(watcher.name) has expired: the history it needs was let go",
            hint: "It has to begin again; \"quake-admin watchers --remove\" forgets it."))
      } else if watcher.secondsBehind > watcherLag.inSeconds {
        let behind = Readable.duration(Duration(lag: watcher.secondsBehind))
        problems.append(
          Problem(
            message: """
              watcher \(watcher.name) is \(behind) and \
              \(Readable.count(Int(watcher.transactionsBehind))) transactions behind
              """,
            hint: "One that will not come back holds the history: see \"quake-admin watchers\"."))
      }
    }
    problems += store.lockWaits.map(Self.problem)
    if store.notificationQueueUsage >= queueShare { problems.append(fullness(of: store)) }
    return problems
  }

  private static func problem(_ wait: LockWait) -> Problem {
    let text = LockWaitText(wait)
    return Problem(
      message: "\(LockWaitText.words(for: wait.waiter)) is \(text.message)", detail: text.detail,
      hint: text.hint)
  }

  private func fullness(of store: StoreStatus) -> Problem {
    let percent = Readable.decimal(store.notificationQueueUsage * 100, places: 1)
    let suspects = store.notificationQueueSuspects.map { LockWaitText.words(for: $0) }
    return Problem(
      message: "the server's notification queue is \(percent) % full",
      detail: suspects.isEmpty
        ? "No session is seen that stays in a transaction or does not read."
        : "Most likely held by \(suspects.joined(separator: "; ")).",
      hint: """
        When it is full, commits fail that send a notification. A listener that stays in a \
        transaction, or does not read, holds it; pg_terminate_backend() ends its session.
        """)
  }

  private func lateness(of feed: StoreStatus.Feed, in store: StoreStatus) -> Problem? {
    let words: String
    if let lag = store.lag(of: feed) {
      guard lag > limit(for: feed) else { return nil }
      words = "has not been polled with success for \(Readable.duration(lag))"
    } else {
      words = "has never been polled with success"
    }
    let failures = feed.failures > 0 ? " (\(feed.failures) failures in a row)" : ""
    return Problem(
      message: "feed \(feed.name) \(words)\(failures)",
      detail: feed.error,
      hint: "It may take \(Readable.duration(limit(for: feed))); --max-lag sets another limit.")
  }
}
