import QuakeFeed
import QuakeWorker

/// A poll in progress: the request is sent, and the answer is being downloaded.
struct FeedPolling {
  let download: FeedDownload
  /// The state of the feed when the request was sent. It stays valid, because only the holder of the feed's
  /// lock changes it.
  let state: FeedState
}
