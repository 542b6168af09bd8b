internal import SystemClock

/// How long a server may send nothing.
///
/// A server sends heartbeats at an interval that its clients are not told: the limit grows with what they see.
final class SilenceLimit {
  private static let shortest = Duration.seconds(60)
  private static let longest = Duration.seconds(600)

  /// The limit at the moment.
  private(set) var duration = shortest

  /// Doubles the limit, because it has passed: the server may be there, and busy.
  func extend() {
    duration = min(duration * 2, Self.longest)
  }

  /// Takes note of a heartbeat that came after this much silence.
  func learn(_ interval: Duration) {
    duration = min(max(Self.shortest, interval * 3), Self.longest)
  }
}
