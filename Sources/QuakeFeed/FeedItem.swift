/// The result of reading the next event of a feed.
public enum FeedItem: Sendable, Equatable {
  /// The record has been filled.
  case record
  /// The event is invalid, and the record is empty. Later events are not affected.
  case reject(FeedReject)
}
