import QuakeFeed
import QuakeWorker

/// A poll of a feed that is under way: the server has been asked, and its answer is coming in.
struct FeedPolling {
  let download: FeedDownload
  /// What the database knew of the feed when the server was asked. It is true to the end: who holds the
  /// feed's lock is the only one to change it.
  let state: FeedState
}
