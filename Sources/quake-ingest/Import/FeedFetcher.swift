import Basics
import CommandLine
import QuakeFeed
import QuakeTool

/// Fetches feeds over HTTP. A request to stop ends the wait for an answer at once. A body that has begun to
/// arrive is work in progress, and may be finished if that does not take long.
final class FeedFetcher {
  private final class Progress {
    var hasAnswer = false
    /// When a stop was first seen.
    var stoppedAt: Duration?
  }

  /// How long a body may go on after a stop.
  private static let grace = Duration.seconds(2)

  private let progress = Progress()
  private let client: FeedClient

  /// A fetcher with these settings.
  init(_ settings: ImportSettings) {
    let progress = progress
    var options = settings.clientOptions
    options.interrupt = {
      guard Signals.stopRequested else { return false }
      guard progress.hasAnswer else { return true }
      let now = MonotonicClock.now()
      let stoppedAt = progress.stoppedAt ?? now
      progress.stoppedAt = stoppedAt
      return now - stoppedAt >= Self.grace
    }
    client = FeedClient(options: options)
  }

  /// Requests a feed; returns when the answer begins.
  func open(url: FeedURL) throws(FeedError) -> FeedResponse {
    progress.hasAnswer = false
    let response = try client.open(url: url)
    progress.hasAnswer = true
    return response
  }
}
