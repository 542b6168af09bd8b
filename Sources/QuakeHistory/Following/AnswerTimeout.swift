/// How long a server may be silent while it owes an answer.
///
/// It doubles after a timeout, because the server may be alive but slow. Together with the follower's
/// safety interval, the shortest timeout detects a dead connection within 15 s.
package struct AnswerTimeout {
  /// The timeout for the next connection.
  package private(set) var duration = shortest

  private static let shortest = Duration.seconds(8)
  private static let longest = Duration.seconds(64)

  /// The shortest timeout.
  package init() {}

  /// Doubles it, up to a limit, because it has passed.
  package mutating func extend() {
    duration = min(duration * 2, Self.longest)
  }

  /// Returns to the shortest, because the server has answered.
  package mutating func reset() {
    duration = Self.shortest
  }
}
