/// Fires at regular intervals, for whoever asks it.
public struct PeriodicTimer {
  private let interval: Duration
  private var due: Duration

  /// Fires every `interval`, first after `delay`; by default after a whole interval.
  public init(_ interval: Duration, first delay: Duration? = nil) {
    self.interval = interval
    due = MonotonicClock.now() + (delay ?? interval)
  }

  /// How long until it fires; zero if it is due.
  public var remaining: Duration { max(.zero, due - MonotonicClock.now()) }

  /// Whether it is due; if so, it fires next a whole interval from now.
  public mutating func fireIfDue() -> Bool {
    guard remaining == .zero else { return false }
    due = MonotonicClock.now() + interval
    return true
  }
}
