/// A timer that a loop checks, and that is due at regular intervals.
public struct PeriodicTimer {
  private let interval: Duration
  private var due: Duration

  /// A timer that is due every `interval`, first after `delay`; by default after a whole interval.
  public init(_ interval: Duration, first delay: Duration? = nil) {
    self.interval = interval
    due = MonotonicClock.now() + (delay ?? interval)
  }

  /// The time until it is due, at least zero.
  public var remaining: Duration { max(.zero, due - MonotonicClock.now()) }

  /// Whether it is due. If so, it is due again a whole interval from now.
  public mutating func fireIfDue() -> Bool {
    guard remaining == .zero else { return false }
    due = MonotonicClock.now() + interval
    return true
  }
}
