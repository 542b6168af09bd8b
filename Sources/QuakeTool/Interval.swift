internal import CommandLine

/// Something that is due again and again.
public struct Interval {
  private let length: Duration
  private var due: Duration

  /// Due every `length`, first after `delay`; by default after a whole length.
  public init(_ length: Duration, first delay: Duration? = nil) {
    self.length = length
    due = MonotonicClock.now() + (delay ?? length)
  }

  /// How long until it is due; zero if it is.
  public var remaining: Duration { max(.zero, due - MonotonicClock.now()) }

  /// Whether it is due; if so, the next time is a whole length from now.
  public mutating func takeDue() -> Bool {
    guard remaining == .zero else { return false }
    due = MonotonicClock.now() + length
    return true
  }
}
