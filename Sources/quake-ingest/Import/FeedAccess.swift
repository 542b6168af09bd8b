import QuakeFeed

/// How a feed's bytes are had.
enum FeedAccess {
  /// They are read as they come, for as long as that takes.
  case stream(FeedFetcher)
  /// Nobody may be kept waiting: a URL has been downloaded already, and a file is a regular one.
  case ready(FeedDownload?)

  var isReady: Bool {
    if case .ready = self { true } else { false }
  }
}
