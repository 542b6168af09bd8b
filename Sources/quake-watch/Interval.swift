import CommandLine

/// Something that is due again and again.
struct Interval {
  private let length: Duration
  private var due: Duration

  /// Due first after `length`.
  init(_ length: Duration) {
    self.length = length
    due = MonotonicClock.now() + length
  }

  /// How long until it is due; zero if it is.
  var remaining: Duration { max(.zero, due - MonotonicClock.now()) }

  /// Whether it is due; if so, the next time is a whole length from now.
  mutating func takeDue() -> Bool {
    guard remaining == .zero else { return false }
    due = MonotonicClock.now() + length
    return true
  }
}
