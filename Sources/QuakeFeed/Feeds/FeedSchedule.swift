/// Computes the pause between two polls of a feed. It uses neither a clock nor the database.
public struct FeedSchedule: Sendable, Equatable {
  /// A pause, and the part of it that the server requested.
  public struct Pause: Sendable, Equatable {
    /// Until the next poll.
    public var length: Duration
    /// The time that the server requested, at most a day; nil if it did not.
    public var asked: Duration?
  }

  /// Time between two successful polls.
  public let every: Duration
  /// Failed polls since the last successful one.
  public private(set) var failures: Int

  /// The longest random extension of a pause, so that feeds and workers do not all poll in the same second.
  private static let longestJitter = Duration.seconds(30)
  /// The longest first pause after a failure, for feeds with a long interval.
  private static let firstRetry = Duration.seconds(60)
  /// The longest pause after failures, unless the feed's interval is longer.
  private static let longestRetry = Duration.seconds(3600)
  /// The longest pause that a server can request: a mistake in a header must not stop the polling.
  private static let longestRequest = 86_400

  /// A schedule with an interval and the number of failures since the last success.
  public init(every: Duration, failures: Int = 0) {
    self.every = every
    self.failures = failures
  }

  /// The pause after a successful poll. The freshness that the server states has precedence over a shorter
  /// interval.
  ///
  /// - Parameters:
  ///   - seconds: How long the answer is fresh, in seconds; nil if unknown.
  ///   - chance: A random number from 0 to 1, which determines the extension.
  public mutating func succeeded(
    freshFor seconds: Int?, chance: Double = .random(in: 0...1)
  ) -> Pause {
    failures = 0
    let asked = Self.bounded(seconds)
    let jitter = min(every / 10, Self.longestJitter) * chance
    return Pause(length: max(every, asked ?? .zero) + jitter, asked: asked)
  }

  /// The pause after a failed poll, which doubles each time.
  ///
  /// - Parameters:
  ///   - seconds: The seconds of a Retry-After; nil if there is none.
  ///   - chance: A random number from 0 to 1. The pause has 3/4 to 5/4 of its nominal length, but is never
  ///     shorter than the server requested.
  public mutating func failed(
    retryAfter seconds: Int?, chance: Double = .random(in: 0...1)
  ) -> Pause {
    let doubled = min(every, Self.firstRetry) * (1 << min(failures, 12))
    failures += 1
    let asked = Self.bounded(seconds)
    let length = min(doubled, max(Self.longestRetry, every)) * (0.75 + chance / 2)
    return Pause(length: max(length, asked ?? .zero), asked: asked)
  }

  private static func bounded(_ seconds: Int?) -> Duration? {
    seconds.flatMap { $0 > 0 ? .seconds(min($0, longestRequest)) : nil }
  }
}
