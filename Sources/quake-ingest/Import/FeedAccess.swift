import QuakeFeed

/// How a command reads a feed's bytes.
enum FeedAccess {
  /// It reads them as they arrive, however long that takes.
  case stream(FeedFetcher)
  /// It does not wait: a URL has been downloaded already, and a file is a regular file.
  case ready(FeedDownload?)

  var isReady: Bool {
    if case .ready = self { true } else { false }
  }
}
