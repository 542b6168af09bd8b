public import QuakeModel

/// Who has paused a feed, and when.
public struct FeedPause: Sendable, Equatable {
  /// The database role that paused it.
  public let role: String
  /// When.
  public let since: Timestamp

  /// A pause by `role`.
  public init(by role: String, since: Timestamp) {
    self.role = role
    self.since = since
  }

  /// A pause as the database has it; nil if the feed is not paused.
  ///
  /// - Parameter since: Microseconds since 1970-01-01T00:00:00Z.
  init?(by role: String?, since: Int64?) {
    guard let role, let since else { return nil }
    self.init(by: role, since: Timestamp(microseconds: since))
  }
}
