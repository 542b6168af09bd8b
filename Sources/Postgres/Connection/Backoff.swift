/// Pauses between attempts. Each is twice as long as the last, up to a limit, with jitter, so that the
/// clients of one server do not all retry at the same moment.
package struct Backoff {
  private let first: Duration
  private let longest: Duration
  private var current: Duration

  /// Pauses from `first` to `longest`.
  package init(first: Duration = .milliseconds(100), longest: Duration = .seconds(5)) {
    self.first = first
    self.longest = longest
    current = first
  }

  /// Starts again with the shortest pause.
  package mutating func reset() {
    current = first
  }

  /// The next pause: a random length between half the nominal one and all of it.
  package mutating func next() -> Duration {
    let pause = current
    current = min(current * 2, longest)
    return pause / 2 + pause / 2 * Double.random(in: 0...1)
  }
}
