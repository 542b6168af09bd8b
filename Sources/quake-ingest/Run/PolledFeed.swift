import CommandLine
import QuakeFeed
import QuakeWorker
import SystemClock

/// A feed that a worker polls, or stands by for.
struct PolledFeed {
  let name: String
  let reference: FeedReference
  var schedule: FeedSchedule
  /// Whether this worker polls it; otherwise another does, or nobody yet.
  var isHeld = false
  /// The poll that is under way; nil: none is.
  var polling: FeedPolling?
  /// What its last snapshot makes us ask about single events; nil: nothing, or no more.
  var check: WithdrawalCheck?
  /// When it is due, on the monotonic clock.
  private(set) var due = Duration.zero
  /// Until when its server wants to be left alone.
  private var retryAt = Duration.zero
  /// When it was last polled; nil: never.
  private var polledAt: Duration?
  /// Whether somebody waits for a poll out of turn.
  private(set) var isWanted = false

  init(name: String, reference: FeedReference, every: Duration) {
    self.name = name
    self.reference = reference
    schedule = FeedSchedule(every: every)
  }

  /// The address, as it is shown.
  var url: String { reference.description }

  /// Takes over what the database knows, from whoever polled it before.
  mutating func take(_ state: FeedState) {
    let now = MonotonicClock.now()
    schedule = FeedSchedule(every: schedule.every, failures: state.failures)
    due = now + state.dueIn
    retryAt = now + state.retryIn
    polledAt = state.polledAgo.map { now - $0 }
    isHeld = true
    isWanted = false
  }

  /// Makes it due as soon as it may be polled out of turn.
  mutating func want() { isWanted = true }

  /// When there is something to do: a poll, or a request to be answered.
  ///
  /// - Parameter interval: The least time between two polls out of turn.
  func next(refreshInterval interval: Duration) -> Duration {
    guard isWanted else { return due }
    return min(due, polledAt.map { $0 + interval } ?? .zero)
  }

  /// Whether its server has to be left alone even by those who ask out of turn.
  var mustWait: Bool { retryAt > MonotonicClock.now() }

  /// Gives up what is under way: somebody else may poll it by now.
  mutating func release(_ downloads: FeedDownloads) {
    if let polling { downloads.cancel(polling.download) }
    check?.cancel(downloads)
    polling = nil
    check = nil
    isHeld = false
  }

  /// Nobody waits any more.
  mutating func answered() { isWanted = false }

  /// After a poll, whatever came of it.
  mutating func polled(_ schedule: FeedSchedule, pause: FeedSchedule.Pause) {
    let now = MonotonicClock.now()
    self.schedule = schedule
    polledAt = now
    due = now + pause.length
    retryAt = schedule.failures > 0 ? now + (pause.asked ?? .zero) : .zero
    isWanted = false
  }
}
