internal import Basics

/// How many events a transaction of an edit changes: as many as take a tenth of a second, so that a session
/// that waits for one of its row locks does not notice.
struct ChunkSize {
  /// The present size.
  private(set) var size = 2000
  private static let limits = 250...5000
  private static let target = Duration.milliseconds(100)

  /// Takes into account how long a transaction of `count` events took.
  mutating func took(_ duration: Duration, for count: Int) {
    guard count >= size / 2 else { return }
    let wanted = Double(size) * (Self.target / max(duration, .milliseconds(1)))
    // One slow commit says little.
    let next = min(max(wanted, Double(size) / 2), Double(size) * 2)
    size = min(max(Int(next), Self.limits.lowerBound), Self.limits.upperBound)
  }
}
