/// How long a feed is left alone between two polls. Values only: no clock, no database.
public struct FeedSchedule: Sendable, Equatable {
  /// How long to wait, and how much of it the server asked for.
  public struct Pause: Sendable, Equatable {
    /// Until the next poll.
    public var length: Duration
    /// What the server asked for, at most a day; nil: it did not.
    public var asked: Duration?
  }

  /// Time between two polls that succeed.
  public let every: Duration
  /// Polls that failed since the last that succeeded.
  public private(set) var failures: Int

  /// The longest that a pause is stretched, so that many feeds and many workers do not ask in the same
  /// second.
  private static let longestJitter = Duration.seconds(30)
  /// A feed that is polled seldom is tried again sooner than that after a failure.
  private static let firstRetry = Duration.seconds(60)
  /// The longest pause after failures, unless the feed is polled less often anyway.
  private static let longestRetry = Duration.seconds(3600)
  /// The longest pause that a server can ask for: a mistake in one header must not end the polling.
  private static let longestRequest = 86_400

  /// A feed that is polled every so often, and failed so many times since it last succeeded.
  public init(every: Duration, failures: Int = 0) {
    self.every = every
    self.failures = failures
  }

  /// The pause after a poll that succeeded: a server's word on how long its answer is fresh counts for
  /// more than the wish to ask often.
  ///
  /// - Parameters:
  ///   - seconds: How long the answer is fresh; nil: unknown.
  ///   - chance: From 0 to 1; how much the pause is stretched.
  public mutating func succeeded(
    freshFor seconds: Int?, chance: Double = .random(in: 0...1)
  ) -> Pause {
    failures = 0
    let asked = Self.bounded(seconds)
    let jitter = min(every / 10, Self.longestJitter) * chance
    return Pause(length: max(every, asked ?? .zero) + jitter, asked: asked)
  }

  /// The pause after a poll that failed: doubled each time.
  ///
  /// - Parameters:
  ///   - seconds: For how long the server asks to be left alone; nil: it does not.
  ///   - chance: From 0 to 1; the pause is between 3/4 and 5/4 of its length, but never shorter than
  ///     what the server asks for.
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
