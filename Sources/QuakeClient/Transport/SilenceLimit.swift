internal import Basics

/// How long a server may send nothing.
///
/// A server does not tell clients the interval of its heartbeats: the limit follows the observed intervals.
final class SilenceLimit {
  private static let shortest = Duration.seconds(60)
  private static let longest = Duration.seconds(600)

  /// The limit at the moment.
  private(set) var duration = shortest

  /// Doubles the limit after it has passed: the server may be running but busy.
  func extend() {
    duration = min(duration * 2, Self.longest)
  }

  /// Takes note of a heartbeat that came after this much silence.
  func learn(_ interval: Duration) {
    duration = min(max(Self.shortest, interval * 3), Self.longest)
  }
}
