/// Pauses between attempts: doubled each time up to a limit, with jitter, so that many clients of one
/// server do not all come back at the same moment.
public struct Backoff {
  private let first: Duration
  private let longest: Duration
  private var current: Duration

  /// Pauses from `first` to `longest`.
  public init(first: Duration = .milliseconds(100), longest: Duration = .seconds(5)) {
    self.first = first
    self.longest = longest
    current = first
  }

  /// Begins with the shortest pause again.
  public mutating func reset() {
    current = first
  }

  /// The next pause: between half and all of its length.
  public mutating func next() -> Duration {
    let pause = current
    current = min(current * 2, longest)
    return pause / 2 + pause / 2 * Double.random(in: 0...1)
  }
}
