/// What the next event of a feed has become.
public enum FeedItem: Sendable, Equatable {
  /// The record has been filled.
  case record
  /// The event cannot be taken; the record is empty. The events after it are not affected.
  case reject(FeedReject)
}
