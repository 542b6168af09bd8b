import CommandLine
import QuakeFeed

/// A feed that a worker polls, and when it is due.
struct PolledFeed {
  let name: String
  let reference: FeedReference
  let every: Duration
  /// When it is due, on the monotonic clock.
  var due: Duration = .zero
  /// Failed polls in a row.
  var failures = 0

  /// The longest pause after failures, unless the server itself asks for a longer one.
  private static let longestPause = Duration.seconds(3600)

  /// The longest pause that a server can ask for: a mistake in one header must not end the polling.
  private static let longestRequest = 86_400

  /// After a poll that worked. A server's word on how long its answer is fresh counts for more than
  /// our wish to ask often.
  mutating func succeeded(freshFor seconds: Int?) {
    failures = 0
    due = MonotonicClock.now() + max(every, .seconds(min(seconds ?? 0, Self.longestRequest)))
  }

  /// After a poll that came to nothing for want of the database: soon, but not at once.
  mutating func postpone(by pause: Duration) {
    due = MonotonicClock.now() + pause
  }

  /// After a poll that failed: the pause doubles each time, with jitter, so that many workers do not
  /// ask at the same moment. Returns the pause.
  mutating func failed(retryAfter seconds: Int?) -> Duration {
    failures += 1
    let doubled = every * (1 << min(failures - 1, 12))
    let pause = min(doubled, max(Self.longestPause, every)) * Double.random(in: 0.75...1.25)
    let asked = max(pause, .seconds(min(seconds ?? 0, Self.longestRequest)))
    due = MonotonicClock.now() + asked
    return asked
  }
}
