import Basics
import CommandLine
import QuakeFeed
import QuakeWorker

/// A feed that a worker polls, or for which it is the standby.
struct PolledFeed {
  let name: String
  let reference: FeedReference
  var schedule: FeedSchedule
  /// Whether this worker holds the feed's lock and polls it.
  var isHeld = false
  /// Who has paused it, and when; nil: it is not paused.
  private(set) var pause: FeedPause?
  /// The poll in progress, if any.
  var polling: FeedPolling?
  /// The events that its last snapshot lacks, to be queried one by one; nil if there are none left.
  var check: WithdrawalCheck?
  /// When the next poll is due, on the monotonic clock.
  private(set) var due = Duration.zero
  /// When the time that its server set with Retry-After ends, on the monotonic clock.
  private var retryAt = Duration.zero
  /// When it was last polled, on the monotonic clock; nil: never.
  private var polledAt: Duration?
  /// Whether a refresh request waits for a poll.
  private(set) var isWanted = false

  init(name: String, reference: FeedReference, every: Duration) {
    self.name = name
    self.reference = reference
    schedule = FeedSchedule(every: every)
  }

  /// The address, as messages show it.
  var url: String { reference.description }

  /// Takes over the state that the database has of the feed, from the worker that polled it before.
  mutating func take(_ state: FeedState) {
    let now = MonotonicClock.now()
    schedule = FeedSchedule(every: schedule.every, failures: state.failures)
    due = now + state.dueIn
    retryAt = now + state.retryIn
    polledAt = state.polledAgo.map { now - $0 }
    isHeld = true
    isWanted = false
    pause = state.pause
  }

  /// Whether this worker has to do something for it: to poll it, or while it is paused, to answer requests.
  var isActive: Bool { isHeld && (pause == nil || isWanted) }

  /// Pauses or resumes it. Cancels the poll in progress, unless it is imported already.
  mutating func set(_ pause: FeedPause?, _ downloads: FeedDownloads) {
    self.pause = pause
    guard pause != nil else { return }
    if let polling { downloads.cancel(polling.download) }
    check?.cancel(downloads)
    polling = nil
    check = nil
  }

  /// Makes it due as soon as a refresh may poll it.
  mutating func want() { isWanted = true }

  /// When the next poll, or the answer to a request, is due, on the monotonic clock.
  ///
  /// - Parameter interval: The least time between a poll and a refresh.
  func next(refreshInterval interval: Duration) -> Duration {
    guard pause == nil else { return .zero }
    guard isWanted else { return due }
    return min(due, polledAt.map { $0 + interval } ?? .zero)
  }

  /// Whether a pause, or a Retry-After of its server, forbids even a refresh.
  var mustWait: Bool { pause != nil || retryAt > MonotonicClock.now() }

  /// Cancels the poll in progress, because another worker may poll the feed by now.
  mutating func release(_ downloads: FeedDownloads) {
    if let polling { downloads.cancel(polling.download) }
    check?.cancel(downloads)
    polling = nil
    check = nil
    isHeld = false
  }

  /// Notes that the refresh requests have been answered.
  mutating func answered() { isWanted = false }

  /// Sets the time of the next poll after a poll that succeeded or failed.
  mutating func polled(_ schedule: FeedSchedule, pause: FeedSchedule.Pause) {
    let now = MonotonicClock.now()
    self.schedule = schedule
    polledAt = now
    due = now + pause.length
    retryAt = schedule.failures > 0 ? now + (pause.asked ?? .zero) : .zero
    isWanted = false
  }
}

/// A poll in progress: the request is sent, and the answer is being downloaded.
struct FeedPolling {
  let download: FeedDownload
  /// The state of the feed when the request was sent. It stays valid, because only the holder of the feed's
  /// lock changes it.
  let state: FeedState
}
